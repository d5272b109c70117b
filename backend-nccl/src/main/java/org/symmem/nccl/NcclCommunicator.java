package org.symmem.nccl;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.bytedeco.cuda.nccl.ncclComm;
import org.jspecify.annotations.Nullable;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaDevice;

/**
 * One communicator and its one thread, which does every call of NCCL for it, with the device's context current: NCCL allows no two
 * threads in a communicator. Callers wait with a deadline. A call that does not come back in time leaves the communicator broken, for
 * the thread is still inside; it is aborted when it is closed, when nothing uses its windows any more. Thread-safe.
 */
final class NcclCommunicator implements AutoCloseable {
    private static final Duration LOCAL_CALL = Duration.ofSeconds(30);
    /** As a C program's main thread has, whatever -Xss says of Java's threads: NCCL keeps its plans of the topology on the stack. */
    private static final long STACK_BYTES = 8 << 20;

    private final Nccl nccl;
    private final CudaDevice device;
    private final ExecutorService thread;
    private volatile @Nullable ncclComm comm;
    private volatile @Nullable String broken;
    /** A call did not come back: the thread is inside it. */
    private volatile boolean stuck;
    private boolean closed;

    NcclCommunicator(Nccl nccl, CudaDevice device, int rank) {
        this.nccl = nccl;
        this.device = device;
        this.thread = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().stackSize(STACK_BYTES).name("symmem-nccl-rank-" + rank).factory());
    }

    Nccl nccl() {
        return nccl;
    }

    /** Joins the ranks. Collective; blocks until all came, or the deadline. */
    void join(int ranks, byte[] uniqueId, int rank, Duration timeout) {
        String purpose = "joining " + ranks + " ranks as rank " + rank;
        within(purpose, timeout, () -> comm = nccl.commInitRank(ranks, uniqueId, rank, purpose));
    }

    /** Does a call for the communicator that the ranks do together. */
    <T> T together(String purpose, Duration timeout, Function<ncclComm, T> call) {
        return within(purpose, timeout, () -> call.apply(joined()));
    }

    /** Does a call that waits for no other rank. */
    <T> T alone(String purpose, Callable<T> call) {
        return within(purpose, LOCAL_CALL, call);
    }

    /** {@return the communicator, for calls on its thread} */
    ncclComm joined() {
        ncclComm known = comm;
        if (known == null) {
            throw new IllegalStateException("closed: NCCL's communicator");
        }
        return known;
    }

    /** {@return whether its calls may still be made} */
    boolean isUsable() {
        return broken == null && comm != null;
    }

    /** {@return whether its thread is free, so that calls that need no communicator may be made} */
    boolean isFree() {
        return !stuck;
    }

    /** {@return why it cannot be used any more, if so} */
    Optional<String> brokenBy() {
        return Optional.ofNullable(broken);
    }

    /** Does a call that needs no communicator, also when that is broken. */
    <T> T afterwards(String purpose, Callable<T> call) {
        return submitted(purpose, LOCAL_CALL, call);
    }

    /**
     * Ends what waits in it, on the device too. Any thread. Its windows go with it: peers' addresses that NCCL gave end here.
     *
     * @param why what went wrong
     */
    synchronized void abort(String why) {
        if (broken == null) {
            broken = why;
        }
        ncclComm known = comm;
        comm = null;
        if (known != null) {
            // The one call that may come while another is inside: it ends that one.
            try (CudaDevice.Current current = device.makeCurrent()) {
                nccl.commAbort(known, "ending a communicator that is broken: " + broken);
            }
        }
    }

    private <T> T within(String purpose, Duration timeout, Callable<T> call) {
        String why = broken;
        if (why != null) {
            throw new SymmetricMemoryException(NcclErrors.COMMUNICATOR_BROKEN,
                    purpose + ": NCCL's communicator cannot be used any more: " + why + ". Close this symmetric memory and open it anew");
        }
        return submitted(purpose, timeout, call);
    }

    private <T> T submitted(String purpose, Duration timeout, Callable<T> call) {
        Future<T> result = thread.submit(() -> {
            try (CudaDevice.Current current = device.makeCurrent()) {
                return call.call();
            }
        });
        try {
            return result.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            stuck = true;
            broken = purpose + " did not come back within " + timeout.toMillis() + " ms";
            throw new DeadlineException(ErrorCode.RANK_MISSING,
                    "NCCL: " + broken + "; another rank failed in it, or did not come to it, and its own error says why", List.of());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stuck = true;
            broken = purpose + " was interrupted";
            throw new SymmetricMemoryException(NcclErrors.COMMUNICATOR_BROKEN, "NCCL: " + broken, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (CancellationException e) {
            throw new IllegalStateException("closed: NCCL's communicator", e);
        }
    }

    /** Ends the communicator, by force what waits in it. No window is registered any more, or it is broken. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        String why = broken;
        ncclComm known = comm;
        if (why != null) {
            abort(why);
        } else if (known != null) {
            comm = null;
            within("leaving", LOCAL_CALL, () -> {
                nccl.commDestroy(known, "leaving");
                return known;
            });
        }
        thread.shutdown();
    }
}
