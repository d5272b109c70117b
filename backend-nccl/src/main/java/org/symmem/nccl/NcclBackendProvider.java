package org.symmem.nccl;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.symmem.Availability;
import org.symmem.ErrorCode;
import org.symmem.ProcessGroup;
import org.symmem.RanksDisagreeException;
import org.symmem.Support;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaBackend;
import org.symmem.cuda.CudaBackendProvider;
import org.symmem.cuda.CudaDevice;
import org.symmem.linux.InheritableDescriptors;
import org.symmem.spi.Agreement;
import org.symmem.spi.Backend;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;
import org.symmem.spi.Closers;

/**
 * The backend {@code nccl}: memory and windows of the machine's NCCL. Available where a driver, a device and {@code libnccl.so.2} of
 * 2.27.3 or later are. Below {@code cuda} in preference: it needs what that needs, and one process and one device for each rank.
 */
@BackendName("nccl")
public final class NcclBackendProvider implements BackendProvider {
    private final CudaBackendProvider cuda = new CudaBackendProvider();

    @Override
    public String name() {
        return "nccl";
    }

    @Override
    public int priority() {
        return 50;
    }

    /** Loads NCCL and the binding, and asks the CUDA backend, which this one works over. */
    @Override
    public Availability availability() {
        if (cuda.availability() instanceof Availability.Unavailable without) {
            return without;
        }
        try {
            Optional<String> reason = NcclLibrary.unavailable();
            if (reason.isPresent()) {
                return Availability.unavailable(reason.get(), null);
            }
            NcclLibrary library = NcclLibrary.load();
            return Availability.available("NCCL " + library.version(), "at " + library.path() + "; " + needs(library));
        } catch (RuntimeException | LinkageError e) {
            return Availability.unavailable(String.valueOf(e.getMessage()), e);
        }
    }

    private static String needs(NcclLibrary library) {
        Support shared = NcclBackend.sharedDevice(library.version(), System.getenv("NCCL_MULTI_RANK_GPU_ENABLE"));
        return NcclBackend.peerAddresses(new Nccl(library)) + "; " + shared.explanation();
    }

    @Override
    public Backend open(ProcessGroup group, Agreement agreement) {
        Closers opened = new Closers();
        try {
            CudaDevice[] device = new CudaDevice[1];
            NcclLibrary[] library = new NcclLibrary[1];
            List<Introduction> ranks = agreement.step("loading NCCL and opening the device", () -> {
                library[0] = NcclLibrary.load();
                device[0] = opened.add(CudaDevice.forLocalRank(group.localRank()));
                return Introduction.ofThisRank(library[0], device[0]).toBytes();
            }).stream().map(Introduction::from).toList();
            compare(ranks);
            CudaBackend shared = opened.add(cuda.open(group, agreement));
            NcclCommunicator communicator = opened
                    .add(new NcclCommunicator(new Nccl(library[0]), device[0], group.rank()));
            byte[] uniqueId = agreement.step("making NCCL's unique id",
                    () -> group.rank() == 0
                            ? communicator.alone("making a unique id", () -> communicator.nccl().getUniqueId("making a unique id"))
                            : new byte[0])
                    .getFirst();
            NcclBackend backend = new NcclBackend(group, shared, communicator,
                    new NcclCollectives(communicator, shared, device[0], group.timeout()), opened);
            InheritableDescriptors before = InheritableDescriptors.now();
            try {
                agreement.check("joining NCCL's communicator",
                        () -> communicator.join(group.worldSize(), uniqueId, group.rank(), backend.shorter(agreement.timeout())));
            } finally {
                // After all ranks are through: what a peer connected to is open then.
                before.makeLaterOnesCloseOnExec();
            }
            new WindowTrial(backend, device[0], ranks).run(agreement);
            return backend;
        } catch (Throwable e) {
            opened.closeBecauseOf(e);
            throw e;
        }
    }

    /** Every rank has heard all ranks, so all throw the same, at once, where NCCL itself would fail later or wait. */
    private static void compare(List<Introduction> ranks) {
        Map<String, Integer> devices = new HashMap<>();
        Map<String, Integer> processes = new HashMap<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            Introduction one = ranks.get(rank);
            if (!one.version().equals(ranks.getFirst().version())) {
                throw new RanksDisagreeException("rank 0 on host " + ranks.getFirst().host() + " has NCCL " + ranks.getFirst().version()
                        + ", rank " + rank + " on host " + one.host() + " has " + one.version() + "; name the same library with "
                        + NcclPlaces.PROPERTY);
            }
            Integer sameProcess = processes.put(one.process(), rank);
            if (sameProcess != null) {
                throw new SymmetricMemoryException(ErrorCode.BACKEND_UNAVAILABLE, "ranks " + sameProcess + " and " + rank
                        + " are threads of one process, and would wait for each other inside NCCL's calls; start a process for each rank");
            }
            Integer other = devices.put(one.uuid(), rank);
            if (other != null) {
                requireShared(other, ranks.get(other), rank, one);
            }
            if (!one.windowsOff().isEmpty()) {
                throw WindowTrial.refusal(rank, one.host(), one.windowsOff());
            }
        }
    }

    private static void requireShared(int other, Introduction first, int rank, Introduction second) {
        for (String setting : List.of(first.shareSetting(), second.shareSetting())) {
            Support shared = NcclBackend.sharedDevice(second.version(), setting);
            if (!shared.supported()) {
                throw new SymmetricMemoryException(NcclErrors.SHARED_DEVICE, "ranks " + other + " and " + rank + " on host "
                        + second.host() + " both use " + second.device() + " (" + second.uuid() + "): " + shared.explanation()
                        + ". Give each rank a device, or use the backend cuda");
            }
        }
    }
}
