package org.symmem.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs other programs, in a folder of its own, and keeps what they print. Local; blocks; one thread. */
final class PeerPrograms implements AutoCloseable {
    private static final long LIMIT_SECONDS = 120;

    private final Path work;
    private final Path given;

    /** @param given the folder of the programs that are not this project's */
    PeerPrograms(Path given) throws IOException {
        this.work = Files.createTempDirectory("symmem-peers");
        this.given = given;
    }

    /** {@return a place in the folder, where nothing is yet} */
    Path place(String name) {
        return work.resolve(name);
    }

    /** {@return a program of this project, written to a file} */
    Path own(String name) throws IOException {
        Path source = work.resolve(name);
        if (!Files.exists(source)) {
            try (InputStream in = Objects.requireNonNull(PeerPrograms.class.getResourceAsStream(name))) {
                Files.copy(in, source);
            }
        }
        return source;
    }

    /** {@return a program that was given} */
    Path given(String name) throws Peers.NotRunException {
        Path source = given.resolve(name);
        if (!Files.isReadable(source)) {
            throw new Peers.NotRunException("there is no " + name + " in the folder of the peers");
        }
        return source;
    }

    String compiled(String compiler, Path source) throws IOException, InterruptedException, Peers.NotRunException {
        Path program = work.resolve(source.getFileName() + ".program");
        if (!Files.exists(program)) {
            output(List.of(compiler, "-O2", source.toString(), "-o", program.toString()));
        }
        return program.toString();
    }

    /** {@return what the program printed; it may have failed after it printed something} */
    String output(List<String> command) throws IOException, InterruptedException, Peers.NotRunException {
        return outputOfFirst(List.of(command));
    }

    /** Runs programs at the same time, until the first of them ends. */
    String outputOfFirst(List<List<String>> commands) throws IOException, InterruptedException, Peers.NotRunException {
        Path out = Files.createTempFile(work, "out", ".txt");
        Path err = Files.createTempFile(work, "err", ".txt");
        List<Process> processes = new ArrayList<>();
        String name = commands.getFirst().getFirst();
        try {
            for (List<String> command : commands) {
                ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
                builder.redirectOutput(processes.isEmpty() ? out.toFile() : err.toFile());
                processes.add(builder.start());
            }
            if (!processes.getFirst().waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new Peers.NotRunException(name + " did not end within " + LIMIT_SECONDS + " s");
            }
        } catch (IOException e) {
            throw new Peers.NotRunException(name + " cannot be started: " + e.getMessage());
        } finally {
            for (Process process : processes) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        }
        String said = Files.readString(out);
        // OpenSHMEM's finalize may crash after the figures are printed.
        int code = processes.getFirst().exitValue();
        if (code != 0 && said.isBlank()) {
            List<String> lines = Files.readString(err).lines().filter(line -> !line.isBlank()).toList();
            throw new Peers.NotRunException(
                    name + " ended with exit code " + code + (lines.isEmpty() ? "" : ": " + lines.getLast().strip()));
        }
        return said;
    }

    /** Deletes a folder and all that is in it, if it is there. */
    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    @Override
    public void close() throws IOException {
        delete(work);
    }
}
