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
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.bytedeco.cuda.nccl.ncclComm;
import org.jspecify.annotations.Nullable;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaDevice;

/**
 * One communicator and its one thread, which does every call of NCCL for it, with the device's context current: NCCL allows no two
 * threads in a communicator. Callers wait with a deadline. A call that does not come back in time is ended, and leaves the communicator
 * broken; it is freed when it is closed, when nothing uses its windows any more. Thread-safe.
 */
final class NcclCommunicator implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(NcclCommunicator.class.getName());
    private static final Duration LOCAL_CALL = Duration.ofSeconds(30);
    /** For a call that was ended to come back, and the communicator to be freed. */
    private static final Duration LAST_CALL = Duration.ofSeconds(2);
    /** For the other ranks, which may have died, as far as NCCL asks them. */
    private static final Duration LEAVING = Duration.ofSeconds(10);
    /** As a C program's main thread has, whatever -Xss says of Java's threads: NCCL keeps its plans of the topology on the stack. */
    private static final long STACK_BYTES = 8 << 20;

    private final Nccl nccl;
    private final CudaDevice device;
    private final ExecutorService thread;
    private volatile @Nullable ncclComm comm;
    private volatile @Nullable String broken;
    /** A call did not come back: the thread is inside it. */
    private volatile boolean stuck;
    private volatile @Nullable FutureTask<Void> ending;
    private volatile String endedBy = "nothing";
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

    /** {@return whether its windows are mapped, so that the addresses that NCCL gave are} */
    boolean hasWindows() {
        return comm != null;
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

    /** Has it aborted, not left, when it is closed, and not used any more. */
    void giveUp(String why) {
        broken = why;
    }

    /**
     * Ends what waits in it, on the device too; it cannot be used any more. Any thread. Where the library can revoke a communicator
     * its windows stay, and the addresses that NCCL gave, until this is closed; older ones abort it, and give no addresses.
     *
     * <p>Waits for it a little only: NCCL waits for its kernels, which may be queued behind work of the user's.
     *
     * @param why what went wrong
     * @return the call that did it, or is at it
     */
    synchronized String endCalls(String why) {
        if (broken == null) {
            broken = why;
        }
        ncclComm known = comm;
        if (known != null && ending == null) {
            ending = new FutureTask<>(() -> revokeOrAbort(known));
            Thread.ofPlatform().daemon().stackSize(STACK_BYTES).name("symmem-nccl-end").start(ending);
        }
        return ending == null || comesBack(ending) ? endedBy : endedBy + ", which has not come back yet";
    }

    private @Nullable Void revokeOrAbort(ncclComm known) {
        if (nccl.canRevoke()) {
            try (CudaDevice.Current current = device.makeCurrent()) {
                endedBy = "ncclCommRevoke";
                nccl.commRevoke(known, "ending calls of a communicator that is broken: " + broken);
                return null;
            } catch (NativeCallException e) {
                LOG.log(System.Logger.Level.WARNING, "a communicator is aborted with all its windows, since it cannot be revoked", e);
            }
        }
        endedBy = "ncclCommAbort";
        abort(known);
        return null;
    }

    /** The one call that may come while another is inside: it ends that one. */
    private void abort(ncclComm known) {
        comm = null;
        try (CudaDevice.Current current = device.makeCurrent()) {
            nccl.commAbort(known, "ending a communicator that is broken: " + broken);
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
            broken = purpose + " did not come back within " + timeout.toMillis() + " ms";
            stuck = true;
            endCalls(broken);
            // To join cannot be ended, for NCCL has not given the communicator yet.
            stuck = ending == null || !comesBack(result);
            throw new DeadlineException(ErrorCode.RANK_MISSING,
                    "NCCL: " + broken + "; another rank failed in it, or did not come to it, and its own error says why", List.of());
        } catch (InterruptedException e) {
            stuck = true;
            broken = purpose + " was interrupted";
            endCalls(broken);
            stuck = ending == null || !comesBack(result);
            Thread.currentThread().interrupt();
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

    /** {@return whether a call that is being ended, or ends others, is over soon} */
    private static boolean comesBack(Future<?> call) {
        try {
            call.get(LAST_CALL.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The last call, on the communicator's thread, if that comes out of the call that was ended, as it should. */
    private void free(String purpose, Duration patience, Runnable call) {
        try {
            FutureTask<Void> before = ending;
            if (before != null && !comesBack(before)) {
                throw new DeadlineException(ErrorCode.RANK_MISSING, "NCCL: " + endedBy + " did not come back", List.of());
            }
            submitted(purpose, patience, () -> {
                call.run();
                return purpose;
            });
        } catch (DeadlineException e) {
            // A rank that has died must not make closing fail, and freeing what a thread is inside of would take the process down.
            LOG.log(System.Logger.Level.WARNING, "a communicator stays until the process ends, since a call in it does not end", e);
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
        if (why != null) {
            endCalls(why);
        }
        ncclComm known = comm;
        if (known != null && why != null) {
            free("ending a revoked communicator", LAST_CALL, () -> abort(known));
        } else if (known != null) {
            comm = null;
            free("leaving", LEAVING, () -> nccl.commDestroy(known, "leaving"));
        }
        thread.shutdown();
    }
}
