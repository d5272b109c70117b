package org.symmem.cuda;

import java.util.Optional;
import org.symmem.Availability;
import org.symmem.ErrorCode;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.LibC;
import org.symmem.spi.Agreement;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;
import org.symmem.spi.Closers;

/** The backend {@code cuda}: device memory by CUDA's virtual memory management. Available where a driver and a device are. */
@BackendName("cuda")
public final class CudaBackendProvider implements BackendProvider {
    /** Batched stream memory operations with 64-bit words and the rest that is called here: CUDA 11.7. */
    private static final int OLDEST_DRIVER = 11_070;

    @Override
    public String name() {
        return "cuda";
    }

    @Override
    public int priority() {
        return 100;
    }

    /** Loads the driver, counts devices, and creates, exports and frees one granule. */
    @Override
    public Availability availability() {
        Optional<String> reason = LibC.available().or(CudaLibrary::unavailable);
        if (reason.isPresent()) {
            return Availability.unavailable(reason.get(), null);
        }
        try {
            int version = CudaDevice.driverVersion();
            String versionText = "driver " + version / 1000 + "." + version % 1000 / 10;
            if (version < OLDEST_DRIVER) {
                return Availability.unavailable(versionText + " is older than " + OLDEST_DRIVER / 1000 + "." + OLDEST_DRIVER % 1000 / 10
                        + ", which this backend needs", null);
            }
            try (CudaDevice device = CudaDevice.forLocalRank(0)) {
                return device.hasVirtualMemory() ? tryOneGranule(device, versionText)
                        : Availability.unavailable(
                                device + " has no virtual memory management with POSIX descriptors (attributes 102 and 103)", null);
            }
        } catch (RuntimeException | LinkageError e) {
            return Availability.unavailable(String.valueOf(e.getMessage()), e);
        }
    }

    private static Availability tryOneGranule(CudaDevice device, String version) {
        try (CudaDevice.Current current = device.makeCurrent();
                PhysicalMemory granule = PhysicalMemory.create(device, CudaBackend.granularityOf(device), "trying one granule");
                var descriptor = granule.export("trying to export")) {
            return Availability.available(version, CudaDevice.count() + " devices, the first " + device);
        }
    }

    @Override
    public CudaBackend open(ProcessGroup group, Agreement agreement) {
        Closers opened = new Closers();
        try {
            CudaEngine[] engine = new CudaEngine[1];
            long[] granularityBytes = new long[1];
            agreement.check("opening the device", () -> {
                CudaDevice device = CudaDevice.forLocalRank(group.localRank());
                try {
                    if (!device.hasVirtualMemory()) {
                        throw new SymmetricMemoryException(ErrorCode.BACKEND_UNAVAILABLE,
                                device + " has no virtual memory management with POSIX descriptors");
                    }
                    granularityBytes[0] = CudaBackend.granularityOf(device);
                    engine[0] = opened.add(new CudaEngine(device, group.rank()));
                } catch (Throwable e) {
                    device.close();
                    throw e;
                }
            });
            HandleExchange handles = opened.add(HandleChoice.among(agreement, engine[0].device()));
            return CudaBackend.open(agreement, engine[0], handles, granularityBytes[0]);
        } catch (Throwable e) {
            opened.closeBecauseOf(e);
            throw e;
        }
    }
}
