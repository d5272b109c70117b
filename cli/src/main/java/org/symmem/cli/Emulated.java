package org.symmem.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** The option that puts the emulated native libraries of a source checkout in front of the machine's, in this process and its ranks. */
final class Emulated {
    /** Says that results say nothing about hardware; ranks get it too. */
    static final String PROPERTY = "symmem.emulated";
    private static final String CHECKOUT = "symmem.checkout";
    /** The property that names a backend's library, and the emulated one. */
    private static final Map<String, String> LIBRARIES = new TreeMap<>(
            Map.of("symmem.cuda.path", "cuda/libcuda.so.1", "symmem.nvshmem.path", "nvshmem/libnvshmem_host.so.3"));

    @Option(names = "--emulated", description = "use the emulated native libraries of this source checkout; everything printed then says so, for it says nothing about hardware")
    private void emulated(boolean on) {
        if (!on) {
            return;
        }
        String checkout = System.getProperty(CHECKOUT);
        if (checkout == null) {
            throw new UsageException(
                    "--emulated works in a source checkout only: the emulated libraries are for tests and are not shipped");
        }
        LIBRARIES.forEach((property, file) -> {
            Path library = Path.of(checkout, "emulation", "target").resolve(file).normalize();
            if (!Files.isReadable(library)) {
                throw new UsageException("--emulated needs " + library + ", which is not built: mvn -pl emulation package");
            }
            System.setProperty(property, library.toString());
        });
        System.setProperty(PROPERTY, "true");
        System.err.println("EMULATED native libraries: nothing here says anything about hardware or speed");
    }
}
