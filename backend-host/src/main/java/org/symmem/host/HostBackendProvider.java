package org.symmem.host;

import java.lang.foreign.Arena;
import java.util.Optional;
import org.symmem.Availability;
import org.symmem.ProcessGroup;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Agreement;
import org.symmem.spi.Backend;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;

/** The backend {@code host}: shared memory of one host. Available on Linux. */
@BackendName("host")
public final class HostBackendProvider implements BackendProvider {
    @Override
    public String name() {
        return "host";
    }

    @Override
    public int priority() {
        return 0;
    }

    /** Makes, seals and maps one page of shared memory to find out. */
    @Override
    public Availability availability() {
        Optional<String> reason = LibC.available();
        if (reason.isPresent()) {
            return Availability.unavailable(reason.get(), null);
        }
        try (Descriptor memfd = SharedMemory.create(LibC.pageSize(), "trying one page of shared memory");
                Arena arena = Arena.ofConfined()) {
            LibC.mapInto(LibC.reserve(LibC.pageSize(), arena, "trying one page of address space"), memfd.fd(), 0,
                    "trying one page of shared memory");
            return Availability.available("Linux " + System.getProperty("os.version"), "sealed memfds");
        } catch (RuntimeException | LinkageError e) {
            return Availability.unavailable("one page of shared memory could not be had: " + e.getMessage(), e);
        }
    }

    @Override
    public Backend open(ProcessGroup group, Agreement agreement) {
        return new HostBackend(group, DescriptorExchange.open(agreement));
    }
}
