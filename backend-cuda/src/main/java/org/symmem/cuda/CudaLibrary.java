package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.symmem.linux.SharedLibrary;

/** The driver's library. It is the machine's, never shipped: {@code symmem.cuda.path} names another file than the loader's choice. */
public final class CudaLibrary {
    public static final String NAME = "libcuda.so.1";
    public static final String PATH_PROPERTY = "symmem.cuda.path";

    private CudaLibrary() {}

    private static final class Holder {
        static final SymbolLookup LOOKUP = SymbolLookup.libraryLookup(System.getProperty(PATH_PROPERTY, NAME), Arena.global());
    }

    /** {@return why the library cannot be loaded, or empty if it can} Never throws, asked again or not. */
    public static Optional<String> unavailable() {
        String file = System.getProperty(PATH_PROPERTY, NAME);
        boolean isThere = file.contains("/") && Files.exists(Path.of(file));
        Optional<String> unsuitable = isThere ? SharedLibrary.unsuitable(Path.of(file)) : Optional.empty();
        if (unsuitable.isPresent()) {
            return unsuitable;
        }
        try {
            return symbol("cuInit").isPresent() ? Optional.empty() : Optional.of(file + " is no CUDA driver: it lacks cuInit");
        } catch (IllegalArgumentException | LinkageError e) {
            // The first time it is an ExceptionInInitializerError, later a NoClassDefFoundError.
            return Optional.of(isThere ? file + " cannot be loaded: " + SharedLibrary.loaderError(file)
                    : file + " not found by the dynamic loader (LD_LIBRARY_PATH, /etc/ld.so.cache, /usr/lib; or set " + PATH_PROPERTY
                            + ")");
        }
    }

    /** {@return a function of the driver, if it has it} */
    public static Optional<MemorySegment> symbol(String name) {
        return Holder.LOOKUP.find(name);
    }
}
