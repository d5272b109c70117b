package org.symmem.nccl;

import java.nio.file.Path;

/** The libraries that the emulation module builds. What runs over them says nothing about hardware. */
final class EmulatedNccl {
    private static final Path BUILT = Path.of("..", "emulation", "target").toAbsolutePath().normalize();

    private EmulatedNccl() {}

    static String driver() {
        return BUILT.resolve("cuda/libcuda.so.1").toString();
    }

    static String version(String version) {
        return BUILT.resolve("nccl").resolve(version).resolve("libnccl.so.2").toString();
    }
}
