package org.symmem.spi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Which host a rank runs on. Two ranks are on one host if their boot ids are equal: host names repeat among containers and
 * machines made from one image.
 *
 * @param name   the host's name, for people
 * @param bootId the kernel's boot id ({@code /proc/sys/kernel/random/boot_id}), or the name where there is none
 */
public record HostIdentity(String name, String bootId) {
    private static final HostIdentity LOCAL = read();

    /** {@return the host of this process} */
    public static HostIdentity local() {
        return LOCAL;
    }

    private static HostIdentity read() {
        String name = line(Path.of("/proc/sys/kernel/hostname"), "localhost");
        return new HostIdentity(name, line(Path.of("/proc/sys/kernel/random/boot_id"), name));
    }

    private static String line(Path file, String otherwise) {
        try {
            String line = Files.readString(file).strip();
            return line.isEmpty() ? otherwise : line;
        } catch (IOException e) {
            return otherwise;
        }
    }
}
