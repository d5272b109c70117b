package org.symmem.bench;

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What a message of 8 bytes there and one back take between two threads over Aeron's IPC, in a process of its own with an embedded
 * media driver. Argument: a folder for the driver. Prints {@code signal NANOSECONDS}.
 */
public final class AeronPeer {
    private static final String CHANNEL = "aeron:ipc";
    private static final int TRIPS = 20_000;
    private static final int BATCHES = 11;
    private static final int WARM_UP = 3;
    private static final long LIMIT_NANOS = 60_000_000_000L;

    private AeronPeer() {}

    /** @param arguments the driver's folder */
    public static void main(String[] arguments) throws InterruptedException {
        MediaDriver.Context context = new MediaDriver.Context().aeronDirectoryName(arguments[0])
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true);
        try (MediaDriver driver = MediaDriver.launchEmbedded(context);
                Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()));
                Subscription pings = aeron.addSubscription(CHANNEL, 1);
                Subscription pongs = aeron.addSubscription(CHANNEL, 2);
                Publication ping = aeron.addExclusivePublication(CHANNEL, 1);
                Publication pong = aeron.addExclusivePublication(CHANNEL, 2)) {
            Thread answering = Thread.ofPlatform().daemon().start(() -> {
                for (int i = 0; i < TRIPS * BATCHES; i++) {
                    receive(pings);
                    send(pong);
                }
            });
            double[] nanos = new double[BATCHES];
            for (int batch = 0; batch < BATCHES; batch++) {
                long start = System.nanoTime();
                for (int i = 0; i < TRIPS; i++) {
                    send(ping);
                    receive(pongs);
                }
                nanos[batch] = (double) (System.nanoTime() - start) / TRIPS;
            }
            answering.join();
            System.out.println("signal " + Spread.of(Arrays.copyOfRange(nanos, WARM_UP, BATCHES)).median());
        }
    }

    private static final ThreadLocal<UnsafeBuffer> MESSAGE = ThreadLocal.withInitial(() -> new UnsafeBuffer(ByteBuffer.allocateDirect(8)));
    private static final FragmentHandler IGNORE = (buffer, offset, length, header) -> {};

    private static void send(Publication publication) {
        UnsafeBuffer message = MESSAGE.get();
        long start = System.nanoTime();
        while (publication.offer(message) < 0) {
            spin(start);
        }
    }

    private static void receive(Subscription subscription) {
        long start = System.nanoTime();
        while (subscription.poll(IGNORE, 1) == 0) {
            spin(start);
        }
    }

    private static void spin(long start) {
        if (System.nanoTime() - start > LIMIT_NANOS) {
            throw new IllegalStateException("no message for 60 s");
        }
        Thread.onSpinWait();
    }
}
