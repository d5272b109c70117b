package org.example.symmem;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;

/** A stream that is a thread: each operation begins when the one before it is done, and none after the first that failed. */
final class ThreadStream implements StreamQueue {
    private final ExecutorService thread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("file-stream").factory());
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    @Override
    public long handle() {
        return 0;
    }

    private void put(Runnable operation) {
        last = last.thenRunAsync(operation, thread);
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        put(() -> Bytes.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes));
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        put(() -> Bytes.fill(target, offsetBytes, elements, elementBits, elementSize));
    }

    @Override
    public boolean synchronize(long timeoutNanos) {
        try {
            last.get(timeoutNanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException | CompletionException e) {
            throw new SymmetricMemoryException(ErrorCode.STREAM_FAILED,
                    "an operation of a stream over mapped files failed: " + e.getCause(), e.getCause());
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
