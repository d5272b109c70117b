package org.symmem.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option that puts the emulated native libraries of a source checkout in front of the machine's, in this process and its ranks. */
final class Emulated {
    /** Says that results say nothing about hardware; ranks get it too. */
    static final String PROPERTY = "symmem.emulated";
    /** The property that names a backend's library, and the emulated one. */
    private static final Map<String, String> LIBRARIES = new TreeMap<>(
            Map.of("symmem.cuda.path", "cuda/libcuda.so.1", "symmem.nccl.path", "nccl/" + ncclFolder() + "libnccl.so.2",
                    "symmem.nvshmem.path", "nvshmem/libnvshmem_host.so.3"));

    /** A version of NCCL has a library of its own, for each lacks other functions. */
    private static String ncclFolder() {
        String version = System.getenv("SYMMEM_EMULATION_NCCL_VERSION");
        return version == null ? "" : version + "/";
    }

    /** {@return whether a backend works on an emulated library in this process and its ranks} */
    static boolean replacesLibraryOf(String backend) {
        return Boolean.getBoolean(PROPERTY) && LIBRARIES.containsKey("symmem." + backend + ".path");
    }

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(names = "--emulated", description = "use the emulated native libraries of this source checkout; everything printed then says so, for it says nothing about hardware")
    private void emulated(boolean on) {
        if (!on) {
            return;
        }
        Path emulation = Home.folder().map(home -> home.resolve("emulation")).filter(Files::isDirectory).orElse(null);
        if (emulation == null) {
            throw new ParameterException(command.commandLine(),
                    "--emulated works in a source checkout only: the emulated libraries are for tests and are not shipped");
        }
        LIBRARIES.forEach((property, file) -> {
            Path library = emulation.resolve("target").resolve(file).normalize();
            if (!Files.isReadable(library)) {
                throw new ParameterException(command.commandLine(),
                        "--emulated needs " + library + ", which is not there; mvn -pl emulation package builds those that there are");
            }
            System.setProperty(property, library.toString());
        });
        System.setProperty(PROPERTY, "true");
        System.err.println("EMULATED native libraries: nothing here says anything about hardware or speed");
    }
}
