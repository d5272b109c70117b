package org.symmem.linux;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The descriptors of this process that its children would inherit, at one moment. A library that opens descriptors without
 * close-on-exec is called between {@link #now()} and {@link #makeLaterOnesCloseOnExec()}. What any other thread opens in such a way
 * meanwhile is not told apart, and a child that is started before the second call has what the library opened.
 */
public final class InheritableDescriptors {
    private static final Path LIST = Path.of("/proc/self/fd");

    /** What each number stood for; a number alone may be closed and given to another file. */
    private final Map<Integer, String> known;

    private InheritableDescriptors(Map<Integer, String> known) {
        this.known = known;
    }

    /** {@return those that there are now} Local; where they cannot be listed there are none. */
    public static InheritableDescriptors now() {
        return new InheritableDescriptors(list());
    }

    /** Makes those that have come since close-on-exec. One that is closed meanwhile is passed over. */
    public void makeLaterOnesCloseOnExec() {
        list().forEach((fd, file) -> {
            if (!file.equals(known.get(fd))) {
                LibC.closeOnExec(fd);
            }
        });
    }

    private static Map<Integer, String> list() {
        Map<Integer, String> files = new HashMap<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(LIST)) {
            for (Path entry : entries) {
                int fd = Integer.parseInt(entry.getFileName().toString());
                if (LibC.isInheritable(fd)) {
                    files.put(fd, fileOf(entry));
                }
            }
        } catch (IOException e) {
            // No /proc: nothing can be said, and nothing is changed.
            return Map.of();
        }
        return files;
    }

    private static String fileOf(Path entry) {
        try {
            return Files.readSymbolicLink(entry).toString();
        } catch (IOException e) {
            // Closed since it was listed.
            return "";
        }
    }
}
