package org.symmem.nccl;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.symmem.linux.PythonPackages;

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
        // The package of the Python in use is what its jobs on this machine run with, so it goes before the system's.
        PythonPackages.folders(environment).forEach(packages -> folders.add(packages.resolve(WHEEL)));
        FOLDERS.forEach(folder -> folders.add(Path.of(folder)));
        return new NcclPlaces(folders.stream().map(folder -> folder.resolve(NAME).toAbsolutePath()).distinct().toList());
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
