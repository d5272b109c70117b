package org.symmem.nccl;

import java.util.Map;
import org.bytedeco.cuda.nccl.ncclWindow_vidmem;
import org.symmem.MemoryRegion;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.InheritableDescriptors;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;
import org.symmem.spi.Wire;

/** Registers one small window when the ranks open the backend, so that all know whether there are any before they rely on them. */
final class WindowTrial {
    private WindowTrial() {}

    /** Collective. Throws the same error on all ranks, with the reason, if NCCL gives no window on one. */
    static void over(NcclBackend backend, Agreement agreement) {
        NcclCommunicator communicator = backend.communicator();
        long sizeBytes = backend.granularityBytes();
        String purpose = "trying a window";
        InheritableDescriptors before = InheritableDescriptors.now();
        Closers closers = new Closers();
        try {
            long[] address = new long[1];
            reject(agreement.step("allocating memory for a trial window", () -> {
                address[0] = communicator.alone(purpose, () -> communicator.nccl().memAlloc(sizeBytes, purpose));
                closers.add(() -> backend.free(address[0], sizeBytes));
                var unsuitable = backend.cuda().validate(MemoryRegion.of(address[0], sizeBytes), sizeBytes);
                return answer(
                        unsuitable.isEmpty() ? "" : "ncclMemAlloc gave plain memory: " + String.join("; ", unsuitable) + cuMemSetting());
            }));
            reject(agreement.step("registering a trial window", () -> {
                ncclWindow_vidmem window = communicator.together(purpose, backend.shorter(agreement.timeout()),
                        comm -> communicator.nccl().commWindowRegister(comm, address[0], sizeBytes, purpose));
                if (window.isNull()) {
                    return answer(reason(agreement.group().worldSize()));
                }
                closers.add(() -> backend.deregister(window, sizeBytes));
                return answer("");
            }));
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        } finally {
            before.makeLaterOnesCloseOnExec();
        }
        closers.close();
    }

    private static byte[] answer(String reason) {
        return Wire.write(out -> out.writeUTF(reason));
    }

    private static void reject(java.util.List<byte[]> answers) {
        for (int rank = 0; rank < answers.size(); rank++) {
            String reason = Wire.read(answers.get(rank), in -> in.readUTF());
            if (!reason.isEmpty()) {
                throw new SymmetricMemoryException(NcclErrors.NO_WINDOW,
                        "NCCL has no symmetric windows for these ranks: rank " + rank + ": " + reason
                                + ". Use the backend cuda, or change that");
            }
        }
    }

    static String cuMemSetting() {
        return cuMemSetting(System.getenv());
    }

    private static String cuMemSetting(Map<String, String> environment) {
        return isOff(environment, "NCCL_CUMEM_ENABLE") ? "; NCCL_CUMEM_ENABLE is 0, so ncclMemAlloc is cudaMalloc" : "";
    }

    private static boolean isOff(Map<String, String> environment, String name) {
        return "0".equals(environment.get(name));
    }

    /** {@return why NCCL gave no window, as far as it can be found out from outside} */
    static String reason(int worldSize) {
        return reason(worldSize, System.getenv());
    }

    static String reason(int worldSize, Map<String, String> environment) {
        if (isOff(environment, "NCCL_WIN_ENABLE")) {
            return "NCCL_WIN_ENABLE is 0";
        }
        if (isOff(environment, "NCCL_CUMEM_ENABLE")) {
            return "NCCL_CUMEM_ENABLE is 0";
        }
        if (worldSize == 1) {
            return "NCCL's memory is not CUDA's virtual memory here (NCCL_DEBUG=INFO says why)";
        }
        if ("1".equals(environment.get("NCCL_P2P_DISABLE"))) {
            return "NCCL_P2P_DISABLE is 1";
        }
        if (environment.containsKey("NCCL_LSA_TEAM_SIZE")) {
            return "NCCL_LSA_TEAM_SIZE is " + environment.get("NCCL_LSA_TEAM_SIZE") + ", so the ranks are several teams";
        }
        return "not every device reaches every other by peer access (nvidia-smi topo -p2p r), or the ranks are several teams"
                + " (several hosts); NCCL_DEBUG=INFO says which";
    }
}
