package org.symmem.linux;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Where Python keeps its packages: native libraries often come to a machine inside one of them. */
public final class PythonPackages {
    private PythonPackages() {}

    /**
     * Looks for folders of packages. Local; reads folders only.
     *
     * @param environment the process's variables: {@code VIRTUAL_ENV}, {@code CONDA_PREFIX}, {@code PATH} and {@code HOME} are read
     * @return the folders that are there, those of the Python that the user's own job would use first
     */
    public static List<Path> folders(Map<String, String> environment) {
        List<Path> libraries = new ArrayList<>();
        for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            Optional.ofNullable(environment.get(variable)).ifPresent(home -> libraries.add(Path.of(home, "lib")));
        }
        // An environment that is in use without its variables: its python3 comes first on the PATH.
        Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator))
                .map(Path::of)
                .filter(bin -> bin.isAbsolute() && Files.isExecutable(bin.resolve("python3")))
                .forEach(bin -> libraries.add(bin.resolveSibling("lib")));
        Optional.ofNullable(environment.get("HOME")).ifPresent(home -> libraries.add(Path.of(home, ".local", "lib")));
        libraries.add(Path.of("/usr/local/lib"));
        libraries.add(Path.of("/usr/lib"));
        return libraries.stream()
                .distinct()
                .flatMap(library -> inside(library, "python3*").stream())
                .flatMap(python -> Stream.of("site-packages", "dist-packages").map(python::resolve))
                .filter(Files::isDirectory)
                .toList();
    }

    /** {@return the entries of a folder whose names match, in order; none if it cannot be read} */
    public static List<Path> inside(Path folder, String pattern) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, pattern)) {
            entries.forEach(found::add);
        } catch (IOException e) {
            // Not there, or not for this user: nothing is installed in it then.
        }
        found.sort(null);
        return found;
    }
}
