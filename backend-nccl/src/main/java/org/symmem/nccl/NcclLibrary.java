package org.symmem.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaLibrary;
import org.symmem.linux.LibC;
import org.symmem.linux.SharedLibrary;

/**
 * The NCCL of this process: the machine's {@code libnccl.so.2}, loaded by its absolute path, and JavaCPP's binding on top of it.
 *
 * @param path    where it was found
 * @param version what it says it is
 * @param lookup  its functions; one that is absent is known before it is called
 */
record NcclLibrary(Path path, NcclVersion version, SymbolLookup lookup) {
    private static @Nullable NcclLibrary loaded;
    private static @Nullable String refused;

    /** {@return the library}
     *
     * @throws SymmetricMemoryException if there is none that can be used
     */
    static synchronized NcclLibrary load() {
        Optional<String> reason = unavailable();
        if (reason.isPresent() || loaded == null) {
            throw new SymmetricMemoryException(ErrorCode.BACKEND_UNAVAILABLE, reason.orElse("NCCL is not loaded"));
        }
        return loaded;
    }

    /** Loads the library once. {@return why it cannot be used, or empty if it can} Never throws, asked again or not. */
    static synchronized Optional<String> unavailable() {
        if (loaded == null && refused == null) {
            try {
                refused = LibC.available().or(CudaLibrary::unavailable).orElse(null);
                if (refused == null) {
                    tryToLoad();
                }
            } catch (RuntimeException | LinkageError e) {
                // The binding has functions of later versions, which are found missing only when they are called, unless the loader looks for all.
                String bindNow = System.getenv().getOrDefault("LD_BIND_NOW", "");
                refused = "NCCL cannot be loaded: " + withCauses(e) + (bindNow.isEmpty() ? "" : "; LD_BIND_NOW must not be set for it");
            }
        }
        return Optional.ofNullable(refused);
    }

    private static String withCauses(Throwable error) {
        StringBuilder text = new StringBuilder(error.toString());
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            text.append(", caused by ").append(cause);
        }
        return text.toString();
    }

    private static void tryToLoad() {
        NcclPlaces places = NcclPlaces.of(System.getProperty(NcclPlaces.PROPERTY), System.getenv());
        Optional<Path> found = places.found();
        if (found.isEmpty()) {
            refused = places.notFound();
            return;
        }
        Path path = found.get();
        refused = SharedLibrary.unsuitable(path).orElse(null);
        if (refused != null) {
            return;
        }
        keepFromMulticast();
        SymbolLookup lookup;
        try {
            lookup = SymbolLookup.libraryLookup(path, Arena.global());
        } catch (IllegalArgumentException e) {
            refused = path + " cannot be loaded: " + SharedLibrary.loaderError(path.toString());
            return;
        }
        Optional<MemorySegment> getVersion = lookup.find("ncclGetVersion");
        if (getVersion.isEmpty()) {
            refused = path + " is no NCCL: it lacks ncclGetVersion";
            return;
        }
        NcclVersion version = versionBy(getVersion.get());
        if (!version.isAtLeast(NcclVersion.OLDEST)) {
            refused = "NCCL " + version + " at " + path + " is older than " + NcclVersion.OLDEST
                    + ", which has the first windows. Install a later one, or name one with " + NcclPlaces.PROPERTY + " or "
                    + NcclPlaces.VARIABLE;
            return;
        }
        Binding.load();
        loaded = new NcclLibrary(path, version, lookup);
    }

    /**
     * NVLink multicast can put a shared host out of service, so NCCL uses it only if the user asks for it. NCCL reads the variable of
     * the process, which Java cannot set.
     */
    private static void keepFromMulticast() {
        if (System.getenv("NCCL_NVLS_ENABLE") != null) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            var setenv = Linker.nativeLinker()
                    .downcallHandle(Linker.nativeLinker().defaultLookup().find("setenv").orElseThrow(),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
            int status = (int) setenv.invokeExact(arena.allocateFrom("NCCL_NVLS_ENABLE"), arena.allocateFrom("0"), 0);
            if (status != 0) {
                throw new IllegalStateException("setenv(NCCL_NVLS_ENABLE, 0) gave " + status);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static NcclVersion versionBy(MemorySegment function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(ValueLayout.JAVA_INT);
            var getVersion = Linker.nativeLinker()
                    .downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
            int status = (int) getVersion.invokeExact(value);
            return new NcclVersion(status == 0 ? value.get(ValueLayout.JAVA_INT, 0) : 0);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String toString() {
        return "NCCL " + version + " at " + path;
    }
}
