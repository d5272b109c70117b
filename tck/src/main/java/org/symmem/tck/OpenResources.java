package org.symmem.tck;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What this process holds that a backend could leak: descriptors, mappings and child processes, counted by kind. TCP sockets, pipes and the
 * files that the JVM reads classes and libraries from are left out: the kit and the JVM open them as they like.
 *
 * @param counts how many of each kind
 */
record OpenResources(Map<String, Integer> counts) {
    static OpenResources now() {
        Map<String, Integer> counts = new TreeMap<>();
        Set<String> unixSockets = unixSockets();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                String target = targetOf(descriptor);
                if (target.startsWith("/memfd:") || target.startsWith("/dev/nvidia") || target.startsWith("/dev/shm/")) {
                    counts.merge("descriptor of " + target.replaceAll("\\d+", "#"), 1, Integer::sum);
                } else if (target.startsWith("/") && !ofTheJvm(target)) {
                    counts.merge("descriptor of a file", 1, Integer::sum);
                } else if (target.equals("anon_inode:[pidfd]")) {
                    counts.merge("descriptor of a process", 1, Integer::sum);
                } else if (target.startsWith("socket:[") && unixSockets.contains(target.substring(8, target.length() - 1))) {
                    counts.merge("unix socket", 1, Integer::sum);
                }
            }
            int children = (int) ProcessHandle.current().children().count();
            if (children > 0) {
                counts.put("child process", children);
            }
            for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
                int path = line.indexOf('/');
                if (path >= 0 && (line.startsWith("/memfd:", path) || line.startsWith("/dev/shm/", path))) {
                    // Whether its name is gone is the owner's doing, which may come in between.
                    String file = line.substring(path).replaceAll("\\d+", "#").replaceFirst(" \\(deleted\\)$", "");
                    counts.merge("mapping of " + file, 1, Integer::sum);
                }
            }
        } catch (IOException e) {
            counts.put("/proc/self cannot be read: " + e.getMessage(), 1);
        }
        return new OpenResources(counts);
    }

    private static boolean ofTheJvm(String file) {
        return file.endsWith(".jar") || file.endsWith(".so") || file.endsWith(".class") || file.startsWith("/proc/")
                || file.startsWith("/dev/") || file.startsWith(System.getProperty("java.home")) || Files.isDirectory(Path.of(file));
    }

    static String targetOf(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            // Closed since the folder was listed, as the descriptor of the listing itself is.
            return "";
        }
    }

    /** {@return the inodes of all unix sockets of the network namespace} */
    static Set<String> unixSockets() {
        Set<String> inodes = new HashSet<>();
        try {
            for (String line : Files.readAllLines(Path.of("/proc/net/unix"))) {
                String[] fields = line.strip().split("\\s+");
                if (fields.length >= 7) {
                    inodes.add(fields[6]);
                }
            }
        } catch (IOException e) {
            // Without it no socket counts as a unix socket.
        }
        return inodes;
    }

    /** {@return what is there more than before, in words; empty if nothing} */
    List<String> moreThan(OpenResources before) {
        List<String> more = new ArrayList<>();
        counts.forEach((kind, count) -> {
            int start = before.counts.getOrDefault(kind, 0);
            if (count > start) {
                more.add(kind + ": " + start + " before, " + count + " after");
            }
        });
        return more;
    }

    /** {@return how much memory of this process is resident, in KiB} */
    static long residentKiB() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status"))
                .stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }
}
