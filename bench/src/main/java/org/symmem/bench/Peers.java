package org.symmem.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.symmem.rendezvous.JavaCommand;

/** What stands beside us: other programs that do the same work on this machine. Local; blocks; one thread. */
public final class Peers implements AutoCloseable {
    private static final long LIMIT_SECONDS = 120;

    private final Path work;
    private final Path programs;
    private final int ranks;
    private final long[] sizes;

    /**
     * @param programs the folder of {@code oshmem_bench.c}
     * @param ranks    how many take part
     * @param sizes    in bytes
     */
    public Peers(Path programs, int ranks, long[] sizes) throws IOException {
        this.work = Files.createTempDirectory("symmem-peers");
        this.programs = programs;
        this.ranks = ranks;
        this.sizes = sizes;
    }

    /**
     * A peer's figure.
     *
     * @param operation ours that does the same
     * @param bytes     the size; 0 where there is none
     * @param nanos     a call
     */
    public record Figure(String operation, long bytes, double nanos) {}

    /** A peer cannot be run here; the message says why. */
    public static final class NotRunException extends Exception {
        NotRunException(String reason) {
            super(reason);
        }
    }

    /** One peer. */
    @FunctionalInterface
    public interface Run {
        /**
         * @return what it found
         * @throws NotRunException if it cannot be run here
         */
        List<Figure> run() throws IOException, InterruptedException, NotRunException;
    }

    /**
     * A peer and its name.
     *
     * @param name for the reader
     * @param run  runs it once
     */
    public record Peer(String name, Run run) {}

    /** {@return all of them} */
    public List<Peer> all() {
        return List.of(new Peer("C memcpy in one process", this::memcpy), new Peer("OpenSHMEM", this::openShmem),
                new Peer("Aeron IPC, threads", this::aeron));
    }

    private List<Figure> memcpy() throws IOException, InterruptedException, NotRunException {
        Path program = work.resolve("memcpy");
        if (!Files.exists(program)) {
            Path source = work.resolve("memcpy.c");
            try (InputStream in = Objects.requireNonNull(Peers.class.getResourceAsStream("memcpy.c"))) {
                Files.copy(in, source);
            }
            output(List.of("gcc", "-O2", source.toString(), "-o", program.toString()));
        }
        List<String> command = Stream.concat(Stream.of(program.toString()), LongStream.of(sizes).mapToObj(Long::toString)).toList();
        List<Figure> figures = new ArrayList<>();
        output(command).lines().forEach(line -> {
            String[] parts = line.split(" ");
            for (String operation : List.of("local", "put", "get")) {
                figures.add(new Figure(operation, Long.parseLong(parts[0]), Double.parseDouble(parts[1])));
            }
        });
        return figures;
    }

    private List<Figure> openShmem() throws IOException, InterruptedException, NotRunException {
        Path program = work.resolve("oshmem");
        if (!Files.exists(program)) {
            Path source = programs.resolve("oshmem_bench.c");
            if (!Files.isReadable(source)) {
                throw new NotRunException("there is no " + source.getFileName() + " in the folder of the peers");
            }
            output(List.of("oshcc", "-O2", source.toString(), "-o", program.toString()));
        }
        String said = output(List.of("oshrun", "--allow-run-as-root", "--oversubscribe", "-np", Integer.toString(ranks),
                program.toString()));
        List<Figure> figures = new ArrayList<>();
        find(said, "barrier_ns (\\S+)()", "barrier", figures);
        find(said, "signal_roundtrip_ns (\\S+)()", "signal", figures);
        Matcher puts = Pattern.compile("put_(\\d+)B_GBps \\S+ ns/op (\\S+)").matcher(said);
        while (puts.find()) {
            figures.add(new Figure("put", Long.parseLong(puts.group(1)), Double.parseDouble(puts.group(2))));
        }
        return figures;
    }

    /** In a process of its own, for Agrona reaches into the JDK. */
    private List<Figure> aeron() throws IOException, InterruptedException, NotRunException {
        String said = output(JavaCommand.of(List.of("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--add-opens=java.base/java.util.zip=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"), AeronPeer.class,
                List.of(work.resolve("aeron").toString())));
        List<Figure> figures = new ArrayList<>();
        find(said, "signal (\\S+)()", "signal", figures);
        return figures;
    }

    private static void find(String said, String pattern, String operation, List<Figure> figures) {
        Matcher found = Pattern.compile(pattern).matcher(said);
        if (found.find()) {
            figures.add(new Figure(operation, 0, Double.parseDouble(found.group(1))));
        }
    }

    private String output(List<String> command) throws IOException, InterruptedException, NotRunException {
        Path out = Files.createTempFile(work, "out", ".txt");
        Path err = Files.createTempFile(work, "err", ".txt");
        Process process;
        try {
            process = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        } catch (IOException e) {
            throw new NotRunException(command.getFirst() + " cannot be started: " + e.getMessage());
        }
        try {
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new NotRunException(command.getFirst() + " did not end within " + LIMIT_SECONDS + " s");
            }
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String said = Files.readString(out);
        // OpenSHMEM's finalize may crash after the figures are printed.
        if (process.exitValue() != 0 && said.isBlank()) {
            throw new NotRunException(command.getFirst() + " ended with exit code " + process.exitValue() + ": "
                    + Files.readString(err).lines().limit(3).reduce("", (one, next) -> one + next + " ").strip());
        }
        return said;
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> all = Files.walk(work)) {
            for (Path path : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
