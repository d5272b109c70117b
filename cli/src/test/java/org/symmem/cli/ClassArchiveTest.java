package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.symmem.rendezvous.JavaCommand;

class ClassArchiveTest {
    /** A program in a jar that needs no other. */
    private static final String PROGRAM = "picocli.AutoComplete";

    @TempDir
    private Path folder;

    @AfterEach
    void forget() {
        System.clearProperty(JavaCommand.CLASS_ARCHIVE);
    }

    private static Path jarOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** {@return what the JVM says of where a class came from, and all else that a rank's command prints} */
    private static List<String> printed(Path jar) throws Exception {
        List<String> command = new ArrayList<>(JavaCommand.of(List.of("-Xlog:class+load:stdout"), ClassArchiveTest.class, List.of()));
        command.removeLast();
        command.set(command.indexOf("-cp") + 1, jar.toString());
        command.addAll(List.of(PROGRAM, "--version"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = process.inputReader()
                .lines()
                .filter(line -> !line.contains("source:") || line.contains(PROGRAM + " "))
                .toList();
        assertThat(process.waitFor()).as(lines.toString()).isZero();
        return lines;
    }

    @Test
    void ranksStartFromTheArchiveAndPassOverOneThatDoesNotFitWithoutAWord() throws Exception {
        Path jar = Files.copy(jarOf(picocli.CommandLine.class), folder.resolve("program.jar"));
        Path archive = folder.resolve("classes.jsa");
        new ClassArchive(Path.of(System.getProperty("java.home"), "bin", "java"), List.of(jar)).make(archive,
                List.of(List.of(PROGRAM, "--version")));
        assertThat(folder).isDirectoryNotContaining(Files::isDirectory);
        System.setProperty(JavaCommand.CLASS_ARCHIVE, archive.toString());

        List<String> shared = printed(jar);

        assertThat(shared).anyMatch(line -> line.contains(PROGRAM) && line.contains("shared objects file"));

        byte[] bytes = Files.readAllBytes(archive);
        java.util.Arrays.fill(bytes, bytes.length / 2, bytes.length / 2 + 4096, (byte) 0x5A);
        Files.write(archive, bytes);
        List<String> damaged = printed(jar);
        System.setProperty(JavaCommand.CLASS_ARCHIVE, folder.resolve("none").toString());
        List<String> missing = printed(jar);

        assertThat(damaged).hasSameSizeAs(shared).anyMatch(line -> line.contains(PROGRAM) && line.contains("program.jar"));
        assertThat(missing).hasSameSizeAs(shared);
    }
}
