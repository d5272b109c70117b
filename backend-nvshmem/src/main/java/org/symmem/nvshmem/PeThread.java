package org.symmem.nvshmem;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.RankLostException;
import org.symmem.cuda.CudaDevice;

/**
 * The one thread that makes the library's collective calls, which wait for the other PEs without a deadline. The caller waits for
 * it with one; if a peer never comes the thread stays in the call, and, being a daemon, holds up no exit.
 */
final class PeThread {
    private static final long LOOK_MILLIS = 20;
    /** A peer may have done its part of a call just before it ended. */
    private static final long GRACE_NANOS = 500_000_000;

    private final ExecutorService thread = Executors
            .newSingleThreadExecutor(Thread.ofPlatform().daemon().name("symmem-nvshmem-pe").factory());

    /** Lets the thread end, when it is not in a call. */
    void close() {
        thread.shutdown();
    }

    /**
     * Makes a call with a device's context current, and waits for it.
     *
     * @param what      the call in words
     * @param timeout   how long at most
     * @param lostRanks who is known to be gone
     * @return what the call gave
     * @throws DeadlineException  if it did not return in time
     * @throws RankLostException  if a rank was lost, and it did not return soon after
     */
    long call(CudaDevice device, String what, Duration timeout, Supplier<Set<Integer>> lostRanks, LongSupplier call) {
        Future<Long> result = thread.submit(() -> {
            try (CudaDevice.Current current = device.makeCurrent()) {
                return call.getAsLong();
            }
        });
        long start = System.nanoTime();
        long lostSince = 0;
        while (true) {
            try {
                return result.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                long now = System.nanoTime();
                Set<Integer> lost = lostRanks.get();
                lostSince = lost.isEmpty() ? 0 : lostSince == 0 ? now : lostSince;
                if (lostSince != 0 && now - lostSince > GRACE_NANOS) {
                    throw new RankLostException(lost.iterator().next(), what + " of NVSHMEM does not return, since ranks " + lost
                            + " have ended; see their output. NVSHMEM cannot be used by this process any more");
                }
                if (now - start > timeout.toNanos()) {
                    throw new DeadlineException(ErrorCode.RANK_MISSING, what + " of NVSHMEM did not return within " + timeout.toMillis()
                            + " ms: some rank did not come to it. NVSHMEM cannot be used by this process any more", java.util.List.of());
                }
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RuntimeException error) {
                    throw error;
                }
                throw new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted in " + what + " of NVSHMEM", e);
            }
        }
    }
}
