package org.symmem.tck;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.symmem.Availability;
import org.symmem.ErrorCode;
import org.symmem.KeyValueStore;
import org.symmem.LiveAllocation;
import org.symmem.ProcessGroup;
import org.symmem.ProviderReport;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.rendezvous.TcpStore;
import org.symmem.spi.Wire;

/** A rank's process: opens the backend once and then runs what the kit sends, until the kit's connection ends. */
final class RankMain {
    /** Exit code when the kit has gone; nobody reads it. */
    private static final int KIT_GONE = 75;
    /** Stands in the queue of orders for the end of the kit's connection; never sent. */
    private static final byte END = 0;
    /** How often a leak is looked at again: the JVM may be slow to let go of what it opened itself. */
    private static final int LOOKS = 4;

    private RankMain() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, String> environment = System.getenv();
        int rank = Integer.parseInt(environment.get("RANK"));
        int worldSize = Integer.parseInt(environment.get("WORLD_SIZE"));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(environment.get("SYMMEM_TCK_PORT")))) {
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            new KitMessage(KitMessage.HELLO, Wire.write(o -> {
                o.writeUTF(environment.get("SYMMEM_TCK_TOKEN"));
                o.writeInt(rank);
            })).write(out);
            BlockingQueue<KitMessage> orders = new LinkedBlockingQueue<>();
            Thread.ofPlatform().daemon().name("from the kit").start(() -> listen(in, out, orders));
            try (TcpStore store = TcpStore.connect("127.0.0.1", Integer.parseInt(environment.get("SYMMEM_TCK_STORE")),
                    Duration.ofSeconds(20));
                    ProcessGroup group = ProcessGroups.over(store, "world", rank, worldSize, rank, TckSettings.groupTimeout())) {
                serve(group, store, environment.get("SYMMEM_TCK_BACKEND"), orders, out);
            }
        }
        // Threads that a rule left behind must not keep the process.
        System.exit(0);
    }

    private static void serve(ProcessGroup group, KeyValueStore store, String backend, BlockingQueue<KitMessage> orders,
            DataOutputStream out) throws Exception {
        SymmetricMemory memory;
        try {
            memory = SymmetricMemory.open(group, SymmetricMemory.Options.defaults().withBackend(backend));
        } catch (Exception | LinkageError | AssertionError e) {
            // Only what a query would have said is a reason to skip; anything else is a backend that is wrong.
            boolean unavailable = e instanceof SymmetricMemoryException error && error.code().equals(ErrorCode.BACKEND_UNAVAILABLE)
                    && brokenProviders().noneMatch(provider -> provider.name().equals(backend));
            new KitMessage(unavailable ? KitMessage.UNAVAILABLE : KitMessage.NOT_OPENED,
                    unavailable ? Wire.write(o -> o.writeUTF(String.valueOf(e.getMessage()))) : notOpened(e).toBytes()).write(out);
            return;
        }
        try (memory) {
            new KitMessage(KitMessage.READY, RankReport.of(memory).toBytes()).write(out);
            for (KitMessage message = orders.take(); message.kind() != END; message = orders.take()) {
                byte[] order = message.body();
                Thread.ofPlatform().name("rule").start(() -> run(memory, store, order, out));
            }
        }
    }

    private static RankOutcome notOpened(Throwable e) {
        RankOutcome outcome = failed(e);
        // A provider that cannot be made may have no name to be known by, so it may be the one that was asked for.
        String broken = brokenProviders()
                .map(provider -> "; " + provider.name() + ": "
                        + (provider.availability() instanceof Availability.Unavailable no ? no.reason() : "available"))
                .collect(Collectors.joining());
        return RankOutcome.failed(outcome.message() + broken, outcome.trace());
    }

    private static Stream<ProviderReport> brokenProviders() {
        return SymmetricMemory.providers().stream().filter(ProviderReport::isBroken);
    }

    /** Reads what the kit sends. When the kit goes, this process follows it soon, wherever it hangs. */
    private static void listen(DataInputStream in, DataOutputStream out, BlockingQueue<KitMessage> orders) {
        try {
            while (true) {
                KitMessage message = KitMessage.read(in);
                switch (message.kind()) {
                    case KitMessage.RUN -> orders.add(message);
                    case KitMessage.DUMP -> send(new KitMessage(KitMessage.DUMPED, allThreads()), out);
                    default -> throw new IOException("the kit sent a message of kind " + message.kind());
                }
            }
        } catch (IOException e) {
            orders.add(new KitMessage(END, new byte[0]));
        }
        LockSupport.parkNanos(TckSettings.answerTimeout().toNanos());
        Runtime.getRuntime().halt(KIT_GONE);
    }

    private static void run(SymmetricMemory memory, KeyValueStore store, byte[] order, DataOutputStream out) {
        RankOutcome outcome;
        try {
            outcome = outcomeOf(memory, store, order);
        } catch (Throwable e) {
            outcome = failed(e);
        }
        send(new KitMessage(KitMessage.RESULT, outcome.toBytes()), out);
    }

    private static RankOutcome outcomeOf(SymmetricMemory memory, KeyValueStore store, byte[] order) throws Exception {
        record Order(String rule, long seed, byte[] body) {}
        Order decoded = Wire.read(order, in -> new Order(in.readUTF(), in.readLong(), in.readAllBytes()));
        RankBody body = (RankBody) new ObjectInputStream(new ByteArrayInputStream(decoded.body())).readObject();
        OpenResources before = OpenResources.now();
        RankContext context = new RankContext(memory, store, decoded.rule(), decoded.seed());
        RankOutcome outcome;
        try {
            body.run(context);
            outcome = RankOutcome.PASSED;
        } catch (Throwable e) {
            outcome = failed(e);
        }
        try {
            context.closeAll();
        } catch (Exception e) {
            outcome = outcome.passed() ? failed(e) : outcome;
        }
        List<String> left = leftovers(memory, before);
        return outcome.passed() && !left.isEmpty()
                ? new RankOutcome(RankOutcome.Verdict.LEFT_SOMETHING, "left behind after the rule: " + String.join("; ", left), "")
                : outcome;
    }

    private static List<String> leftovers(SymmetricMemory memory, OpenResources before) {
        List<String> tensors = memory.liveAllocations().stream().map(LiveAllocation::tensor).toList();
        if (!tensors.isEmpty()) {
            return tensors;
        }
        List<String> left = OpenResources.now().moreThan(before);
        for (int look = 1; look < LOOKS && !left.isEmpty(); look++) {
            System.gc();
            LockSupport.parkNanos(50_000_000);
            left = OpenResources.now().moreThan(before);
        }
        return left;
    }

    private static RankOutcome failed(Throwable thrown) {
        // Of a rule's own threads: what they threw is what it is about.
        Throwable e = thrown instanceof ExecutionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        StringWriter trace = new StringWriter();
        e.printStackTrace(new PrintWriter(trace));
        return RankOutcome.failed(e instanceof AssertionError ? String.valueOf(e.getMessage()) : e.toString(), trace.toString());
    }

    private static byte[] allThreads() {
        return Thread.getAllStackTraces()
                .entrySet()
                .stream()
                .map(thread -> thread.getKey() + "\n"
                        + List.of(thread.getValue()).stream().map(frame -> "    at " + frame + "\n").collect(Collectors.joining()))
                .collect(Collectors.joining("\n"))
                .getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    private static synchronized void send(KitMessage message, DataOutputStream out) {
        try {
            message.write(out);
        } catch (IOException e) {
            // The kit has gone, so nobody wants this process any more.
            Runtime.getRuntime().halt(KIT_GONE);
        }
    }
}
