package org.symmem.nvshmem;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The native code of this backend, which comes in its jar. */
public final class NvshmemShim {
    private static final String FILE = "libsymmem_nvshmem.so";

    private static @Nullable Optional<String> answer;

    private NvshmemShim() {}

    /** {@return why the shim cannot be loaded, or empty if it is} Never throws; the answer stays the same. */
    static synchronized Optional<String> unavailable() {
        if (answer == null) {
            answer = load();
        }
        return answer;
    }

    /** @throws IllegalStateException if the shim cannot be loaded; says why */
    public static void require() {
        unavailable().ifPresent(reason -> {
            throw new IllegalStateException(reason);
        });
    }

    /** {@return a constant, from native code} Does nothing there, so it shows what a call costs. Needs {@link #require()} before. */
    public static int crossing() {
        return NvshmemNative.crossing();
    }

    static String platform() {
        String architecture = System.getProperty("os.arch");
        return System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT) + "-"
                + (architecture.equals("amd64") ? "x86_64" : architecture);
    }

    private static Optional<String> load() {
        String resource = platform() + "/" + FILE;
        Path copy = null;
        try (InputStream in = NvshmemShim.class.getResourceAsStream(resource)) {
            if (in == null) {
                return Optional.of("this jar has no native code for " + platform() + " (" + resource + ")");
            }
            // A name of its own each time: processes that start at once never see each other's half-written file.
            copy = Files.createTempFile("symmem-nvshmem-", ".so");
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
            return Optional.empty();
        } catch (IOException | UnsatisfiedLinkError | IllegalCallerException e) {
            return Optional.of("the native code for " + platform() + " cannot be loaded from " + System.getProperty("java.io.tmpdir")
                    + " (java.io.tmpdir; it must be writable and not mounted noexec): " + e.getMessage());
        } finally {
            delete(copy);
        }
    }

    /** What is loaded stays mapped; the name is not needed any more, and a killed process could not remove it. */
    private static void delete(@Nullable Path copy) {
        if (copy != null) {
            try {
                Files.deleteIfExists(copy);
            } catch (IOException e) {
                copy.toFile().deleteOnExit();
            }
        }
    }
}
