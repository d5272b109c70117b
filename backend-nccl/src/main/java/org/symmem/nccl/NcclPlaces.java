package org.symmem.nccl;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where {@code libnccl.so.2} is looked for. It is the machine's, never shipped. A file that the user names is the only place then.
 *
 * @param files to try, in order; they need not exist
 */
record NcclPlaces(List<Path> files) {
    static final String NAME = "libnccl.so.2";
    static final String PROPERTY = "symmem.nccl.path";
    static final String VARIABLE = "SYMMEM_NCCL_PATH";

    private static final String WHEEL = "nvidia/nccl/lib";
    private static final List<String> FOLDERS = List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/cuda/lib64",
            "/usr/local/lib", "/usr/lib");

    static NcclPlaces of(@Nullable String property, Map<String, String> environment) {
        String named = property != null ? property : environment.get(VARIABLE);
        if (named != null) {
            return new NcclPlaces(List.of(Path.of(named).toAbsolutePath()));
        }
        List<Path> folders = new ArrayList<>();
        for (String folder : environment.getOrDefault("LD_LIBRARY_PATH", "").split(":")) {
            if (!folder.isEmpty()) {
                folders.add(Path.of(folder));
            }
        }
        FOLDERS.forEach(folder -> folders.add(Path.of(folder)));
        for (String root : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            Optional.ofNullable(environment.get(root)).ifPresent(folder -> folders.addAll(wheels(Path.of(folder, "lib"))));
        }
        Optional.ofNullable(environment.get("HOME")).ifPresent(home -> folders.addAll(wheels(Path.of(home, ".local/lib"))));
        folders.addAll(wheels(Path.of("/usr/local/lib")));
        folders.addAll(wheels(Path.of("/usr/lib")));
        matching(Path.of("/opt"), "*").forEach(folder -> folders.addAll(wheels(folder.resolve("lib"))));
        return new NcclPlaces(folders.stream().map(folder -> folder.resolve(NAME).toAbsolutePath()).distinct().toList());
    }

    /** {@return where Python keeps NCCL's wheel below a folder of libraries} */
    private static List<Path> wheels(Path lib) {
        return matching(lib, "python3*").stream()
                .flatMap(python -> List.of("site-packages", "dist-packages").stream().map(packages -> python.resolve(packages)))
                .map(packages -> packages.resolve(WHEEL))
                .filter(Files::isDirectory)
                .toList();
    }

    private static List<Path> matching(Path folder, String glob) {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
                entries.forEach(found::add);
            } catch (IOException e) {
                // A folder that cannot be read holds nothing that could be loaded.
                return List.of();
            }
        }
        return found.stream().sorted().toList();
    }

    /** {@return the file to load, if there is one} */
    Optional<Path> found() {
        return files.stream().filter(Files::isReadable).findFirst();
    }

    /** {@return why there is none, with every place} */
    String notFound() {
        return NAME + " not found; tried " + String.join(", ", files.stream().map(Path::toString).toList()) + ". Name it with " + PROPERTY
                + " or " + VARIABLE;
    }
}
