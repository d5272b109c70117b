package org.symmem.nvshmem;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.symmem.linux.PythonPackages;

/** Finds and loads NVSHMEM's host library. Queries: nothing here throws, starts the library, or ends the process. */
final class NvshmemLibrary {
    static final String PATH_PROPERTY = "symmem.nvshmem.path";
    static final String PATH_VARIABLE = "SYMMEM_NVSHMEM_PATH";
    static final String PLUGIN_VARIABLE = "NVSHMEM_BOOTSTRAP_UID_PLUGIN";

    /** The host library has had the name and the functions that are used here since then. */
    private static final int OLDEST = 3_00_00;

    private static @Nullable Loaded loaded;

    private NvshmemLibrary() {}

    /** What was found. */
    sealed interface Finding {}

    /**
     * The library is loaded and has what is needed.
     *
     * @param version for instance {@code 3.4.5}
     * @param file    where it is
     * @param plugin  the file of its bootstrap plugin, by absolute path or, where the user or the loader knows it, as they name it
     */
    record Loaded(String version, String file, String plugin) implements Finding {}

    /** The library cannot be used. */
    record Lacking(String reason) implements Finding {}

    /** {@return the library, which stays loaded once it was found} */
    static synchronized Finding find() {
        if (loaded != null) {
            return loaded;
        }
        Optional<String> noShim = NvshmemShim.unavailable();
        if (noShim.isPresent()) {
            return new Lacking(noShim.get());
        }
        Optional<String> reason = open();
        if (reason.isPresent()) {
            return new Lacking(reason.get());
        }
        Finding finding = look(String.valueOf(NvshmemNative.file()));
        if (finding instanceof Loaded usable) {
            loaded = usable;
        }
        return finding;
    }

    /** {@return why no library could be loaded, or empty if one is} An explicit setting that is wrong is never passed over. */
    private static Optional<String> open() {
        String property = System.getProperty(PATH_PROPERTY);
        String variable = System.getenv(PATH_VARIABLE);
        if (property != null || variable != null) {
            String setting = property != null ? "the property " + PATH_PROPERTY : "the variable " + PATH_VARIABLE;
            return open(Path.of(property != null ? property : variable)).map(reason -> reason + " (named by " + setting + ")");
        }
        String byName = NvshmemNative.open(LibraryFile.NAME);
        if (byName == null) {
            return Optional.empty();
        }
        List<String> reasons = new ArrayList<>(List.of(byName));
        for (Path place : LibraryFile.usualPlaces()) {
            Optional<String> reason = open(place);
            if (reason.isEmpty()) {
                return reason;
            }
            reasons.add(reason.get());
        }
        return Optional.of(LibraryFile.NAME + " not found by the dynamic loader, nor in NVSHMEM_HOME, a Python environment's or the "
                + "system's site-packages/nvidia/nvshmem/lib, /usr/lib, /usr/local/nvshmem or /opt/nvidia/nvshmem; set " + PATH_PROPERTY
                + " or " + PATH_VARIABLE + " to its file or folder (" + String.join("; ", reasons) + ")");
    }

    private static Optional<String> open(Path named) {
        Path file = Files.isDirectory(named) ? named.resolve(LibraryFile.NAME) : named;
        if (!Files.exists(file)) {
            return Optional.of(file + " does not exist");
        }
        return LibraryFile.unsuitable(file)
                .or(() -> Optional.ofNullable(NvshmemNative.open(file.toAbsolutePath().toString()))
                        .map(reason -> file + " cannot be loaded: " + reason));
    }

    private static Finding look(String file) {
        String missing = NvshmemNative.missing();
        if (!missing.isEmpty()) {
            return new Lacking(file + " lacks functions that this backend needs: " + missing.replace(" ", ", ")
                    + "; NVSHMEM 3.0 and later have them");
        }
        int version = NvshmemNative.version();
        String text = text(version);
        if (version < OLDEST) {
            return new Lacking(file + " is NVSHMEM " + text + ", older than " + text(OLDEST) + ", which this backend needs");
        }
        return plugin(file).<Finding>map(plugin -> new Loaded(text, file, plugin))
                .orElseGet(() -> new Lacking("NVSHMEM " + text + " at " + file + " has no bootstrap plugin " + LibraryFile.PLUGIN
                        + " beside it, nor does the dynamic loader find one; reinstall it, or set " + PLUGIN_VARIABLE
                        + " to the plugin's absolute path"));
    }

    private static String text(int version) {
        return version / 10_000 + "." + version / 100 % 100 + "." + version % 100;
    }

    /** {@return the plugin that the library is to load: the user's, one beside the library, or the loader's choice} */
    private static Optional<String> plugin(String library) {
        String set = System.getenv(PLUGIN_VARIABLE);
        if (set != null) {
            return set.contains("/") && !Files.exists(Path.of(set)) ? Optional.empty() : Optional.of(set);
        }
        return pluginBeside(Path.of(library).toAbsolutePath()).or(NvshmemLibrary::pluginOfTheLoader);
    }

    private static Optional<String> pluginBeside(Path library) {
        List<Path> folders = new ArrayList<>(List.of(library.getParent()));
        try {
            folders.add(library.toRealPath().getParent());
        } catch (java.io.IOException e) {
            // Loaded under a name that is gone: only the loader can know.
        }
        return folders.stream()
                .flatMap(folder -> PythonPackages.inside(folder, LibraryFile.PLUGIN + "*").stream())
                .findFirst()
                .map(Path::toString);
    }

    private static Optional<String> pluginOfTheLoader() {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(LibraryFile.PLUGIN, arena);
            return Optional.of(LibraryFile.PLUGIN);
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
