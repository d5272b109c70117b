package org.symmem.nccl;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;

/**
 * Loads JavaCPP's binding of NCCL without CUDA's runtime. The presets of NCCL inherit those of the runtime, so their class would load
 * {@code libjnicudart.so} first, which needs {@code libcudart.so}; a host that runs NCCL need not have that, for NCCL brings the
 * runtime within itself. So the one JNI library that is called is loaded here, and the class is initialised while JavaCPP is told not
 * to load any.
 */
final class Binding {
    private static final String NCCL = "org.bytedeco.cuda.global.nccl";
    private static final String UNIQUE_ID = "org.bytedeco.cuda.nccl.ncclUniqueId";
    /**
     * JavaCPP refuses to allocate where the whole process has more resident than a few times the Java heap's limit. A process with a
     * CUDA context has hundreds of MiB that are none of JavaCPP's, and what is allocated here are a few small structures.
     */
    private static final String RESIDENT_LIMIT = "org.bytedeco.javacpp.maxPhysicalBytes";
    private static final String SWITCH = "org.bytedeco.javacpp.loadlibraries";

    private Binding() {}

    /** NCCL itself is loaded already; its soname satisfies what the JNI library needs. */
    static void load() {
        if (System.getProperty(RESIDENT_LIMIT) == null) {
            System.setProperty(RESIDENT_LIMIT, "0");
        }
        try {
            // JavaCPP's own library, as ever.
            Class.forName(Pointer.class.getName());
            ClassLoader loader = Pointer.class.getClassLoader();
            Class<?> nccl = Class.forName(NCCL, false, loader);
            URL library = nccl.getResource("/org/bytedeco/cuda/" + Loader.getPlatform() + "/libjninccl.so");
            if (library == null) {
                throw new UnsatisfiedLinkError("libjninccl.so of org.bytedeco:cuda for " + Loader.getPlatform()
                        + " is not on the class path; add its artifact with that classifier");
            }
            // Into JavaCPP's cache, and from there into this class's loader, which must be that of the presets.
            System.load(Loader.cacheResource(library).getAbsolutePath());
            String before = System.getProperty(SWITCH);
            System.setProperty(SWITCH, "false");
            try {
                Class.forName(NCCL, true, loader);
                Class.forName(UNIQUE_ID, true, loader);
            } finally {
                if (before == null) {
                    System.clearProperty(SWITCH);
                } else {
                    System.setProperty(SWITCH, before);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "extracting libjninccl.so, to " + System.getProperty("org.bytedeco.javacpp.cachedir", "~/.javacpp/cache"), e);
        } catch (ClassNotFoundException e) {
            throw new NoClassDefFoundError(e.getMessage());
        }
    }
}
