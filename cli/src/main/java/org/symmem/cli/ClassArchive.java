package org.symmem.cli;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An archive of classes, read and linked, for processes of one Java and one class path. It is made once and never written again, so
 * that processes that start at once cannot meet a half of it; one that does not fit any more is passed over by the JVM.
 *
 * @param java its {@code java}
 * @param jars the class path, in order
 */
record ClassArchive(Path java, List<Path> jars) {
    /** Before the class path, they decide whether the archive fits. */
    private static final List<String> FLAGS = List.of("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC");
    private static final int PATIENCE_SECONDS = 120;

    /**
     * Makes the archive: runs programs, and keeps what they and the processes that they start load.
     *
     * @param archive  appears when it is whole; what was there before is replaced
     * @param programs main classes with arguments, run in a folder that is deleted afterwards
     */
    void make(Path archive, List<List<String>> programs) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(archive.toAbsolutePath().getParent(), "classes");
        try {
            for (List<String> program : programs) {
                run(folder, true, command(List.of(), program));
            }
            Files.write(folder.resolve("list"), classes(folder));
            Path made = folder.resolve("archive");
            String use = "-XX:SharedArchiveFile=" + made;
            run(folder, false, command(List.of("-Xshare:dump", "-XX:SharedClassListFile=list", use), List.of()));
            // Says no where the ordinary use of it would silently do without.
            run(folder, false, command(List.of("-Xshare:on", use), List.of("-version")));
            Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Folders.delete(folder);
        }
    }

    private List<String> command(List<String> flags, List<String> program) {
        List<String> command = new ArrayList<>(List.of(java.toString()));
        command.addAll(FLAGS);
        command.addAll(flags);
        command.addAll(List.of("-cp", jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator))));
        command.addAll(program);
        return command;
    }

    private static void run(Path folder, boolean listing, List<String> command) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(output.toFile()));
        if (listing) {
            // The variable, for ranks have it too; each process writes a list of its own.
            builder.environment().put("JAVA_TOOL_OPTIONS", "-XX:DumpLoadedClassList=%p.classes");
        }
        Process process = builder.start();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new FailureException(1, command + " did not end within " + PATIENCE_SECONDS + " s");
        }
        if (process.exitValue() != 0) {
            throw new FailureException(1, command + " ended with exit code " + process.exitValue() + ": " + Files.readString(output));
        }
    }

    private static Set<String> classes(Path folder) throws IOException {
        // In order: what is said of a class comes after it.
        Set<String> classes = new LinkedHashSet<>();
        try (Stream<Path> lists = Files.list(folder).filter(file -> file.toString().endsWith(".classes"))) {
            for (Path list : lists.toList()) {
                // The numbers are a list's own; a class with a source was defined by a loader that no other process has; to
                // resolve constants (@cp) links classes, and those compiled for the oldest Java are not archived linked.
                Files.readAllLines(list, StandardCharsets.UTF_8)
                        .stream()
                        .filter(line -> !line.startsWith("#") && !line.startsWith("@cp ") && !line.contains(" source: "))
                        .map(line -> line.replaceFirst(" id: \\d+$", ""))
                        .forEach(classes::add);
            }
        }
        return classes;
    }
}
