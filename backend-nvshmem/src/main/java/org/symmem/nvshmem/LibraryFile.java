package org.symmem.nvshmem;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

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
        for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            Optional.ofNullable(System.getenv(variable)).ifPresent(home -> folders.addAll(wheelsBelow(Path.of(home, "lib"))));
        }
        // An environment that is in use without its variables: its python3 comes first on the PATH.
        Stream.of(Optional.ofNullable(System.getenv("PATH")).orElse("").split(File.pathSeparator))
                .map(Path::of)
                .filter(bin -> bin.isAbsolute() && Files.isExecutable(bin.resolve("python3")))
                .forEach(bin -> folders.addAll(wheelsBelow(bin.resolveSibling("lib"))));
        folders.addAll(wheelsBelow(Path.of(System.getProperty("user.home"), ".local", "lib")));
        folders.addAll(wheelsBelow(Path.of("/usr/local/lib")));
        folders.addAll(wheelsBelow(Path.of("/usr/lib")));
        folders.addAll(inside(Path.of("/usr/lib/" + System.getProperty("os.arch").replace("amd64", "x86_64") + "-linux-gnu/nvshmem"), "*"));
        folders.add(Path.of("/usr/local/nvshmem/lib"));
        folders.add(Path.of("/opt/nvidia/nvshmem/lib"));
        return folders.stream().map(folder -> folder.resolve(NAME)).filter(Files::exists).distinct().toList();
    }

    /** {@return the folders of the library in Python's packages below a folder} */
    private static List<Path> wheelsBelow(Path lib) {
        return inside(lib, "python3*").stream()
                .flatMap(python -> Stream.of("site-packages", "dist-packages").map(python::resolve))
                .map(packages -> packages.resolve("nvidia/nvshmem/lib"))
                .toList();
    }

    private static List<Path> inside(Path folder, String pattern) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, pattern)) {
            entries.forEach(found::add);
        } catch (IOException e) {
            // Not there, or not for this user: nothing is installed in it then.
        }
        found.sort(null);
        return found;
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
