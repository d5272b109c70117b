package org.symmem.cli;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import org.symmem.rendezvous.LocalLauncher;

/**
 * Passes signals that this process gets on to the ranks, as long as it is open. SIGINT and SIGHUP also end this process, when the ranks
 * have ended or after a while; SIGUSR1 means what the ranks make of it. SIGTERM ends the ranks and this process without this.
 *
 * <p>The JDK has one way to hear of a signal, {@code sun.misc.Signal} of the module jdk.unsupported, and a compiler's warning of it that
 * cannot be suppressed; so it is called by name.
 */
final class ForwardedSignals implements AutoCloseable {
    private static final List<String> ENDING = List.of("INT", "HUP");
    private static final List<String> OTHERS = List.of("USR1");
    /** How long the ranks may take to end by themselves. */
    private static final Duration GRACE = Duration.ofSeconds(3);

    /** What was done with a signal before. */
    private record Before(Object signal, Object handler) {}

    private final LocalLauncher launcher;
    private final AtomicInteger received = new AtomicInteger();
    private final List<Before> before = new ArrayList<>();

    private ForwardedSignals(LocalLauncher launcher) {
        this.launcher = launcher;
    }

    static ForwardedSignals to(LocalLauncher launcher) {
        ForwardedSignals forwarded = new ForwardedSignals(launcher);
        ENDING.forEach(name -> forwarded.handle(name, true));
        OTHERS.forEach(name -> forwarded.handle(name, false));
        return forwarded;
    }

    private void handle(String name, boolean ends) {
        try {
            Class<?> type = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object signal = type.getConstructor(String.class).newInstance(name);
            int number = (int) type.getMethod("getNumber").invoke(signal);
            Object handler = Proxy.newProxyInstance(handlerType.getClassLoader(), new Class<?>[]{handlerType},
                    (self, method, arguments) -> {
                        pass(number, ends);
                        return null;
                    });
            before.add(new Before(signal, type.getMethod("handle", type, handlerType).invoke(null, signal, handler)));
        } catch (InvocationTargetException e) {
            // This JVM does not let the signal be handled (-Xrs, or it was ignored from the start): it means what it meant.
        } catch (ReflectiveOperationException e) {
            // A Java without jdk.unsupported; its exit still ends the ranks.
        }
    }

    private void pass(int number, boolean ends) {
        launcher.signal(number);
        if (ends && received.compareAndSet(0, number)) {
            Thread.ofPlatform().daemon().name("symmem-signal").start(() -> {
                try {
                    Thread.sleep(GRACE);
                } catch (InterruptedException e) {
                    return;
                }
                // The launcher's hook ends what is left.
                System.exit(128 + number);
            });
        }
    }

    /** {@return the signal that ends this process, if one came} */
    OptionalInt received() {
        int number = received.get();
        return number == 0 ? OptionalInt.empty() : OptionalInt.of(number);
    }

    @Override
    public void close() {
        try {
            Class<?> type = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            for (Before one : before) {
                type.getMethod("handle", type, handlerType).invoke(null, one.signal(), one.handler());
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("what could be set could be set back", e);
        }
    }
}
