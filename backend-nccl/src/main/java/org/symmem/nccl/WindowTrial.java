package org.symmem.nccl;

import java.util.List;
import java.util.Optional;
import org.bytedeco.cuda.nccl.ncclWindow_vidmem;
import org.symmem.MemoryRegion;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaDevice;
import org.symmem.linux.InheritableDescriptors;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;
import org.symmem.spi.Wire;

/** Registers one small window when the ranks open the backend, so that all know whether there are any before they rely on them. */
final class WindowTrial {
    private final NcclBackend backend;
    private final CudaDevice device;
    private final List<Introduction> ranks;
    private final NcclCommunicator communicator;

    /** @param ranks what all of them have said of themselves */
    WindowTrial(NcclBackend backend, CudaDevice device, List<Introduction> ranks) {
        this.backend = backend;
        this.device = device;
        this.ranks = ranks;
        this.communicator = backend.communicator();
    }

    /** Collective. Throws the same error on all ranks, with the reason, if NCCL gives no symmetric window on one. */
    void run(Agreement agreement) {
        long sizeBytes = backend.granularityBytes();
        String purpose = "trying a window";
        InheritableDescriptors before = InheritableDescriptors.now();
        Closers closers = new Closers();
        try {
            long[] address = new long[1];
            reject(agreement.step("allocating memory for a trial window", () -> {
                address[0] = communicator.alone(purpose, () -> communicator.nccl().memAlloc(sizeBytes, purpose));
                closers.add(() -> backend.free(address[0], sizeBytes));
                List<String> unsuitable = backend.cuda().validate(MemoryRegion.of(address[0], sizeBytes), sizeBytes);
                return answer(
                        unsuitable.isEmpty() ? "" : "ncclMemAlloc gave memory that cannot be shared: " + String.join("; ", unsuitable));
            }));
            reject(agreement.step("registering a trial window", () -> {
                ncclWindow_vidmem window = communicator.together(purpose, backend.shorter(agreement.timeout()),
                        comm -> communicator.nccl().commWindowRegister(comm, address[0], sizeBytes, purpose));
                if (!window.isNull()) {
                    closers.add(() -> backend.deregister(window, sizeBytes));
                }
                return answer(lacking(window));
            }));
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        } finally {
            before.makeLaterOnesCloseOnExec();
        }
        agreement.check("ending the trial window", closers::close);
    }

    /**
     * From 2.29.2 on null says that there is no symmetric window. Before, there may be a registration for this rank alone, which looks
     * like one: in 2.28 it has its address on the host, a symmetric one on the device; in 2.27 the two look alike. How addresses look is
     * nothing that NCCL promises, so that alone refuses nothing: there must be a reason for it too.
     *
     * @return why the window is not symmetric, or an empty text if it is
     */
    private String lacking(ncclWindow_vidmem window) {
        if (window.isNull()) {
            return reason().orElse(ranks.size() == 1 ? "NCCL gives no reason, and no variable takes them away; NCCL_DEBUG=INFO may say more"
                    : "NCCL does not reach every rank's device from every other (nvidia-smi topo -p2p r), or takes the ranks for "
                            + "several teams; NCCL_DEBUG=INFO says which");
        }
        NcclVersion version = communicator.nccl().library().version();
        boolean addressTells = version.isAtLeast(NcclVersion.WINDOWS_ON_DEVICE) && !version.isAtLeast(NcclVersion.NULL_WINDOWS);
        return addressTells && !device.knowsAsDeviceMemory(window.address()) ? reason().orElse("") : "";
    }

    private static byte[] answer(String reason) {
        return Wire.write(out -> out.writeUTF(reason));
    }

    private void reject(List<byte[]> answers) {
        for (int rank = 0; rank < answers.size(); rank++) {
            String reason = Wire.read(answers.get(rank), in -> in.readUTF());
            if (!reason.isEmpty()) {
                throw refusal(rank, ranks.get(rank).host(), reason);
            }
        }
    }

    /** {@return the error for all ranks} */
    static SymmetricMemoryException refusal(int rank, String host, String reason) {
        return new SymmetricMemoryException(NcclErrors.NO_WINDOW, "NCCL has no symmetric windows for these ranks: rank " + rank
                + " on host " + host + ": " + reason + ". Change that, or use the backend cuda, which needs no windows");
    }

    /** {@return why NCCL gave no window, as far as it can be found out from outside} */
    private Optional<String> reason() {
        return severalHosts()
                .or(() -> device.outOfReach(ranks.stream().map(Introduction::uuid).toList()))
                .or(() -> WindowSettings.ofThisProcess().suspect(ranks.size()));
    }

    private Optional<String> severalHosts() {
        List<String> hosts = ranks.stream().map(Introduction::host).distinct().toList();
        return hosts.size() == 1 ? Optional.empty() : Optional.of("the ranks are on several hosts: " + String.join(", ", hosts));
    }
}
