package org.symmem.nccl;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.bytedeco.cuda.nccl.ncclComm;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaBackend;
import org.symmem.cuda.CudaDevice;
import org.symmem.cuda.CudaEvent;
import org.symmem.cuda.StreamWait;
import org.symmem.linux.InheritableDescriptors;
import org.symmem.spi.CollectiveCalls;
import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;

/**
 * NCCL's collectives, on bytes, by the communicator that has the windows. A kernel of NCCL's that waits for a rank ends only when the
 * communicator's calls are ended; that is done when the deadline passes, by the watch over streams.
 */
final class NcclCollectives implements CollectiveCalls {
    private final NcclCommunicator communicator;
    private final CudaBackend cuda;
    private final CudaDevice device;
    private final Duration timeout;
    private boolean connected;

    NcclCollectives(NcclCommunicator communicator, CudaBackend cuda, CudaDevice device, Duration timeout) {
        this.communicator = communicator;
        this.cuda = cuda;
        this.device = device;
        this.timeout = timeout;
    }

    @Override
    public void broadcast(Memory buffer, long offsetBytes, long sizeBytes, int root, StreamQueue stream) {
        String purpose = "broadcasting " + sizeBytes + " bytes of rank " + root;
        put(purpose, stream, comm -> communicator.nccl()
                .broadcast(comm, buffer.address() + offsetBytes, sizeBytes, root, stream.handle(),
                        purpose));
    }

    @Override
    public void allGather(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes,
            StreamQueue stream) {
        String purpose = "gathering " + sizeBytes + " bytes of each rank";
        put(purpose, stream, comm -> communicator.nccl()
                .allGather(comm, source.address() + sourceOffsetBytes,
                        target.address() + targetOffsetBytes, sizeBytes, stream.handle(), purpose));
    }

    private synchronized void put(String purpose, StreamQueue stream, Consumer<ncclComm> call) {
        long start = System.nanoTime();
        CudaEvent[] behind = new CudaEvent[1];
        // NCCL connects the ranks within the first call, which waits for them.
        Optional<InheritableDescriptors> before = connected ? Optional.empty() : Optional.of(InheritableDescriptors.now());
        try {
            communicator.together(purpose, timeout, comm -> {
                call.accept(comm);
                behind[0] = CudaEvent.recordedOn(device, stream.handle(), purpose);
                return comm;
            });
        } finally {
            before.ifPresent(InheritableDescriptors::makeLaterOnesCloseOnExec);
            connected = true;
        }
        cuda.watch(stream, new Pending(purpose, communicator, behind[0], start, timeout));
    }

    /** A collective on a stream, until the stream is past it. */
    private record Pending(String purpose, NcclCommunicator communicator, CudaEvent behind, long startNanos, Duration timeout)
            implements
                StreamWait {
        @Override
        public boolean deadlineHasPassed() {
            return System.nanoTime() - startNanos >= timeout.toNanos();
        }

        @Override
        public boolean isOver() {
            return behind.isDone();
        }

        @Override
        public Optional<SymmetricMemoryException> releaseIfParked() {
            if (behind.isDone()) {
                return Optional.empty();
            }
            String late = purpose + " on a stream is not done after " + timeout.toMillis() + " ms";
            String call = communicator.endCalls(late);
            return Optional.of(new DeadlineException(ErrorCode.RANK_MISSING, "NCCL: " + late
                    + "; some rank did not come to it, or work before it takes longer. The communicator was ended (" + call + "): close "
                    + "this symmetric memory and open it anew", List.of()));
        }

        /** A collective that ends because the communicator was ended has not done its work, and nothing else says so. */
        @Override
        public Optional<SymmetricMemoryException> end() {
            behind.close();
            return communicator.brokenBy()
                    .map(why -> new SymmetricMemoryException(NcclErrors.COMMUNICATOR_BROKEN, "NCCL: " + purpose
                            + " on a stream may not be done, since the communicator was ended: " + why));
        }
    }
}
