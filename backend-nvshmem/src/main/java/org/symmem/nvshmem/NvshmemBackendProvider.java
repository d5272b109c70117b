package org.symmem.nvshmem;

import java.util.Optional;
import org.symmem.Availability;
import org.symmem.ErrorCode;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaDevice;
import org.symmem.cuda.CudaEngine;
import org.symmem.cuda.CudaLibrary;
import org.symmem.linux.LibC;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Agreement;
import org.symmem.spi.Backend;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;
import org.symmem.spi.Closers;

/** The backend {@code nvshmem}: the heap of NVSHMEM. Available where its host library, a driver and a device are. */
@BackendName("nvshmem")
public final class NvshmemBackendProvider implements BackendProvider {
    static final String NAME = "nvshmem";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int priority() {
        return 50;
    }

    /** Loads the library and looks every function up; starts nothing. */
    @Override
    public Availability availability() {
        Optional<String> reason = LibC.available().or(CudaLibrary::unavailable);
        if (reason.isPresent()) {
            return Availability.unavailable(reason.get(), null);
        }
        try {
            int devices = CudaDevice.count();
            if (devices == 0) {
                return Availability.unavailable("no CUDA device is visible", null);
            }
            return switch (NvshmemLibrary.find()) {
                case NvshmemLibrary.Lacking lacking -> Availability.unavailable(lacking.reason(), null);
                case NvshmemLibrary.Loaded found -> Availability.available("NVSHMEM " + found.version(),
                        found.file() + ", bootstrap by " + found.plugin() + ", " + devices + " devices");
            };
        } catch (RuntimeException | LinkageError e) {
            return Availability.unavailable(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public Backend open(ProcessGroup group, Agreement agreement) {
        Closers opened = new Closers();
        try {
            NvshmemLibrary.Loaded[] library = new NvshmemLibrary.Loaded[1];
            CudaEngine[] engine = new CudaEngine[1];
            agreement.check("opening the library and the device", () -> {
                library[0] = requireLibrary();
                CudaDevice device = CudaDevice.forLocalRank(group.localRank());
                try {
                    engine[0] = opened.add(new CudaEngine(device, group.rank()));
                } catch (Throwable e) {
                    device.close();
                    throw e;
                }
            });
            DescriptorExchange exchange = opened.add(DescriptorExchange.open(agreement));
            PeWorld world = PeWorld.join(group, agreement, library[0], exchange::lostRanks);
            return new NvshmemBackend(group, world, engine[0], exchange);
        } catch (Throwable e) {
            opened.closeBecauseOf(e);
            throw e;
        }
    }

    private static NvshmemLibrary.Loaded requireLibrary() {
        return switch (NvshmemLibrary.find()) {
            case NvshmemLibrary.Loaded found -> found;
            case NvshmemLibrary.Lacking lacking -> throw new SymmetricMemoryException(ErrorCode.BACKEND_UNAVAILABLE, lacking.reason());
        };
    }
}
