package org.example.symmem;

import java.io.IOException;
import java.lang.foreign.Arena;
import org.symmem.Availability;
import org.symmem.ProcessGroup;
import org.symmem.spi.Agreement;
import org.symmem.spi.Backend;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;

/** Symmetric memory in files that all ranks of a host map, with nothing but the JDK. */
@BackendName("file")
public final class FileBackendProvider implements BackendProvider {
    @Override
    public String name() {
        return "file";
    }

    @Override
    public int priority() {
        return -10;
    }

    @Override
    public Availability availability() {
        try (Arena arena = Arena.ofConfined(); SharedFile file = SharedFile.create()) {
            file.map(4096, arena);
            return Availability.available("JDK " + Runtime.version().feature(), "files in " + file.folder());
        } catch (IOException e) {
            return Availability.unavailable("no file can be mapped: " + e, e);
        }
    }

    @Override
    public Backend open(ProcessGroup group, Agreement agreement) {
        return new FileBackend(group);
    }
}
