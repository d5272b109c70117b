package org.symmem.bench;

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What stands beside signals and barriers on the JVM: messages of 8 bytes over Aeron's IPC, in a process of its own with an embedded
 * media driver, where each rank is a thread. Arguments: a folder for the driver, and the number of ranks. Prints
 * {@code barrier NANOSECONDS}, and {@code signal NANOSECONDS} for a message from rank 0 to rank 1 and one back.
 */
public final class AeronPeer implements AutoCloseable {
    private static final String CHANNEL = "aeron:ipc";
    private static final int BARRIER_STREAM = 1;
    /** Of the messages to rank 0; those to rank 1 have the next. */
    private static final int SIGNAL_STREAM = 2;
    private static final int CALLS = 20_000;
    private static final int BATCHES = 11;
    private static final int WARM_UP = 3;
    private static final int FRAGMENTS = 64;
    private static final long LIMIT_NANOS = 60_000_000_000L;
    /** As our own waits do: polls between two looks at the clock, and how long before the processor is given away. */
    private static final int POLLS_A_LOOK = 64;
    private static final long YIELD_NANOS = 5_000;

    private final int rank;
    private final Publication arrival;
    private final Subscription arrivals;
    private final Publication signal;
    private final Subscription signals;
    private final UnsafeBuffer message = new UnsafeBuffer(ByteBuffer.allocateDirect(Long.BYTES));
    private final long[] arrived;
    private final FragmentHandler count;
    private final BooleanSupplier allArrived = this::allArrived;
    private final BooleanSupplier signalled = this::signalled;
    private final FragmentHandler ignore = (buffer, offset, length, header) -> {};
    private long barriers;

    private AeronPeer(Aeron aeron, int rank, int ranks) {
        this.rank = rank;
        this.arrival = aeron.addExclusivePublication(CHANNEL, BARRIER_STREAM);
        this.arrivals = aeron.addSubscription(CHANNEL, BARRIER_STREAM);
        this.signal = aeron.addExclusivePublication(CHANNEL, SIGNAL_STREAM + 1 - rank % 2);
        this.signals = aeron.addSubscription(CHANNEL, SIGNAL_STREAM + rank % 2);
        this.arrived = new long[ranks];
        this.count = (buffer, offset, length, header) -> arrived[(int) buffer.getLong(offset)]++;
        message.putLong(0, rank);
    }

    /** @param arguments the driver's folder, and the number of ranks */
    public static void main(String[] arguments) throws InterruptedException {
        int ranks = Integer.parseInt(arguments[1]);
        MediaDriver.Context context = new MediaDriver.Context().aeronDirectoryName(arguments[0])
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true);
        try (MediaDriver driver = MediaDriver.launchEmbedded(context);
                Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()))) {
            List<AeronPeer> peers = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                peers.add(new AeronPeer(aeron, rank, ranks));
            }
            for (AeronPeer peer : peers) {
                until(() -> peer.arrivals.imageCount() == ranks && peer.signal.isConnected());
            }
            List<Thread> threads = peers.stream().map(peer -> Thread.ofPlatform().daemon().start(peer::run)).toList();
            for (Thread thread : threads) {
                thread.join();
            }
            peers.forEach(AeronPeer::close);
        }
    }

    private void run() {
        report("barrier", this::barrier);
        if (arrived.length > 1 && rank < 2) {
            report("signal", rank == 0 ? () -> {
                send(signal);
                until(signalled);
            } : () -> {
                until(signalled);
                send(signal);
            });
        }
    }

    private void report(String name, Runnable call) {
        double[] nanos = new double[BATCHES];
        for (int batch = 0; batch < BATCHES; batch++) {
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                call.run();
            }
            nanos[batch] = (double) (System.nanoTime() - start) / CALLS;
        }
        if (rank == 0) {
            System.out.println(name + " " + Spread.of(Arrays.copyOfRange(nanos, WARM_UP, BATCHES)).median());
        }
    }

    private void barrier() {
        barriers++;
        send(arrival);
        until(allArrived);
    }

    /** A rank may be one barrier ahead already, so each one's arrivals count for themselves. */
    private boolean allArrived() {
        arrivals.poll(count, FRAGMENTS);
        for (long times : arrived) {
            if (times < barriers) {
                return false;
            }
        }
        return true;
    }

    private boolean signalled() {
        return signals.poll(ignore, 1) > 0;
    }

    private void send(Publication publication) {
        if (publication.offer(message) < 0) {
            until(() -> publication.offer(message) >= 0);
        }
    }

    private static void until(BooleanSupplier done) {
        long start = System.nanoTime();
        while (true) {
            for (int i = 0; i < POLLS_A_LOOK; i++) {
                if (done.getAsBoolean()) {
                    return;
                }
                Thread.onSpinWait();
            }
            long waited = System.nanoTime() - start;
            if (waited > LIMIT_NANOS) {
                throw new IllegalStateException("no message for 60 s");
            }
            if (waited > YIELD_NANOS) {
                Thread.yield();
            }
        }
    }

    @Override
    public void close() {
        arrival.close();
        arrivals.close();
        signal.close();
        signals.close();
    }
}
