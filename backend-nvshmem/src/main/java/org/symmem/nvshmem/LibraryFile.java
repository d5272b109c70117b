package org.symmem.nvshmem;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.symmem.linux.PythonPackages;

/** Files of the library: where they may be, and whether one is for this machine. */
final class LibraryFile {
    static final String NAME = "libnvshmem_host.so.3";
    /** The library's own way to meet by a unique id, which it loads by name. */
    static final String PLUGIN = "nvshmem_bootstrap_uid.so.3";

    private static final Map<Integer, String> MACHINES = Map.of(3, "x86", 62, "x86_64", 183, "aarch64", 21, "ppc64", 243, "riscv");

    private LibraryFile() {}

    /** {@return where the library is usually installed, the likelier first; a folder that is not there is left out} */
    static List<Path> usualPlaces() {
        List<Path> folders = new ArrayList<>();
        for (String variable : List.of("NVSHMEM_HOME", "NVSHMEM_PREFIX")) {
            Optional.ofNullable(System.getenv(variable)).ifPresent(home -> folders.add(Path.of(home, "lib")));
        }
        PythonPackages.folders(System.getenv()).forEach(packages -> folders.add(packages.resolve("nvidia/nvshmem/lib")));
        folders.addAll(PythonPackages
                .inside(Path.of("/usr/lib/" + System.getProperty("os.arch").replace("amd64", "x86_64") + "-linux-gnu/nvshmem"), "*"));
        folders.add(Path.of("/usr/local/nvshmem/lib"));
        folders.add(Path.of("/opt/nvidia/nvshmem/lib"));
        return folders.stream().map(folder -> folder.resolve(NAME)).filter(Files::exists).distinct().toList();
    }

    /** {@return why a file cannot be a library of this machine, which the loader says less plainly; empty if it can} */
    static Optional<String> unsuitable(Path file) {
        byte[] head;
        try (InputStream in = Files.newInputStream(file)) {
            head = in.readNBytes(20);
        } catch (IOException e) {
            return Optional.of(file + " cannot be read: " + e);
        }
        if (head.length < 20 || head[0] != 0x7f || head[1] != 'E' || head[2] != 'L' || head[3] != 'F') {
            return Optional.of(file + " is no shared library");
        }
        int machine = head[18] & 0xff | (head[19] & 0xff) << 8;
        String name = MACHINES.getOrDefault(machine, "machine " + machine) + (head[4] == 2 ? "" : " with 32 bits");
        String own = System.getProperty("os.arch").replace("amd64", "x86_64");
        return name.equals(own) ? Optional.empty() : Optional.of(file + " is for the architecture " + name + ", this JVM is for " + own);
    }
}
