package org.symmem.host;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;

/** A stream on the host: a queue with a thread of its own. After the first error nothing more of the queue is run. */
final class HostStream implements StreamQueue {
    private final LinkedBlockingQueue<Runnable> operations = new LinkedBlockingQueue<>();
    private final Thread worker;
    private volatile @Nullable Throwable failure;
    private volatile boolean ending;

    private HostStream(String name) {
        worker = Thread.ofPlatform().daemon().name(name).unstarted(this::work);
    }

    static HostStream start(String name) {
        HostStream stream = new HostStream(name);
        stream.worker.start();
        return stream;
    }

    private void work() {
        try {
            while (!ending) {
                operations.take().run();
            }
        } catch (InterruptedException e) {
            // Only the JVM's end interrupts this thread; what is left on the queue is then not wanted any more.
            Thread.currentThread().interrupt();
        }
    }

    /** Puts an operation on the stream. */
    void enqueue(Runnable operation) {
        operations.add(() -> {
            if (failure == null) {
                try {
                    operation.run();
                } catch (RuntimeException | Error e) {
                    failure = e;
                }
            }
        });
    }

    @Override
    public long handle() {
        return 0;
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        enqueue(() -> HostTransfers.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes));
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        enqueue(() -> HostTransfers.fill(target, offsetBytes, elements, elementBits, elementSize));
    }

    @Override
    public boolean synchronize(long timeoutNanos) {
        CountDownLatch reached = new CountDownLatch(1);
        operations.add(reached::countDown);
        try {
            if (!reached.await(timeoutNanos, TimeUnit.NANOSECONDS)) {
                return false;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SymmetricMemoryException(ErrorCode.STREAM_FAILED, "interrupted while waiting for " + worker.getName(), e);
        }
        Throwable first = failure;
        if (first != null) {
            throw new SymmetricMemoryException(ErrorCode.STREAM_FAILED,
                    worker.getName() + " failed, and nothing after the failed operation was run: " + first.getMessage()
                            + ". Close the stream and make a new one",
                    first);
        }
        return true;
    }

    @Override
    public void close() {
        operations.add(() -> ending = true);
        boolean interrupted = false;
        while (worker.isAlive()) {
            try {
                worker.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
