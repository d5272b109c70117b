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

    /** What the heap of OpenSHMEM is asked to hold. */
    private static final long MOST_COLLECTIVE_BYTES = 256L << 20;

    private final Path work;
    private final Path aeronFolder;
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
        // In memory, where Aeron's own default is, and not in a file system that writes it back.
        Path memory = Path.of("/dev/shm");
        this.aeronFolder = Files.isWritable(memory) ? Files.createTempDirectory(memory, "symmem-aeron") : work.resolve("aeron");
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
                new Peer("OpenSHMEM collectives", this::openShmemCollectives), new Peer("Aeron IPC, threads", this::aeron));
    }

    private List<Figure> memcpy() throws IOException, InterruptedException, NotRunException {
        String said = output(Stream.concat(Stream.of(compiled("gcc", own("memcpy.c"))), LongStream.of(sizes).mapToObj(Long::toString))
                .toList());
        List<Figure> figures = new ArrayList<>();
        find(said, "store (\\S+)()", "store", figures);
        Matcher copies = Pattern.compile("(?m)^(\\d+) (\\S+)$").matcher(said);
        while (copies.find()) {
            for (String operation : List.of("local", "put", "get")) {
                figures.add(new Figure(operation, Long.parseLong(copies.group(1)), Double.parseDouble(copies.group(2))));
            }
        }
        return figures;
    }

    /** {@return a program of this project, written where it can be compiled} */
    private Path own(String name) throws IOException {
        Path source = work.resolve(name);
        if (!Files.exists(source)) {
            try (InputStream in = Objects.requireNonNull(Peers.class.getResourceAsStream(name))) {
                Files.copy(in, source);
            }
        }
        return source;
    }

    private String compiled(String compiler, Path source) throws IOException, InterruptedException, NotRunException {
        if (!Files.isReadable(source)) {
            throw new NotRunException("there is no " + source.getFileName() + " in the folder of the peers");
        }
        Path program = work.resolve(source.getFileName() + ".program");
        if (!Files.exists(program)) {
            output(List.of(compiler, "-O2", source.toString(), "-o", program.toString()));
        }
        return program.toString();
    }

    private String onPes(String program, List<String> arguments) throws IOException, InterruptedException, NotRunException {
        return output(Stream.concat(
                Stream.of("oshrun", "--allow-run-as-root", "--oversubscribe", "-np", Integer.toString(ranks), program),
                arguments.stream()).toList());
    }

    private List<Figure> openShmem() throws IOException, InterruptedException, NotRunException {
        String said = onPes(compiled("oshcc", programs.resolve("oshmem_bench.c")), List.of());
        List<Figure> figures = new ArrayList<>();
        find(said, "barrier_ns (\\S+)()", "barrier", figures);
        find(said, "signal_roundtrip_ns (\\S+)()", "signal", figures);
        Matcher puts = Pattern.compile("put_(\\d+)B_GBps \\S+ ns/op (\\S+)").matcher(said);
        while (puts.find()) {
            figures.add(new Figure("put", Long.parseLong(puts.group(1)), Double.parseDouble(puts.group(2))));
        }
        return figures;
    }

    private List<Figure> openShmemCollectives() throws IOException, InterruptedException, NotRunException {
        // A heap that holds what all PEs give, and whole words, of which OpenSHMEM 1.4 makes its collectives.
        List<String> possible = LongStream.of(sizes)
                .filter(size -> size % Long.BYTES == 0 && size <= MOST_COLLECTIVE_BYTES / ranks)
                .mapToObj(Long::toString)
                .toList();
        if (possible.isEmpty()) {
            throw new NotRunException("it takes multiples of " + Long.BYTES + " bytes up to " + Sizes.text(MOST_COLLECTIVE_BYTES)
                    + " for all ranks together");
        }
        String said = onPes(compiled("oshcc", own("openshmem_collectives.c")), possible);
        List<Figure> figures = new ArrayList<>();
        Matcher found = Pattern.compile("(broadcast|allgather)_(\\d+)B (\\S+) us").matcher(said);
        while (found.find()) {
            figures.add(new Figure(found.group(1), Long.parseLong(found.group(2)), Double.parseDouble(found.group(3)) * 1e3));
        }
        return figures;
    }

    /** In a process of its own, for Agrona reaches into the JDK. */
    private List<Figure> aeron() throws IOException, InterruptedException, NotRunException {
        String said = output(JavaCommand.of(List.of("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--add-opens=java.base/java.util.zip=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"), AeronPeer.class,
                List.of(aeronFolder.toString(), Integer.toString(ranks))));
        List<Figure> figures = new ArrayList<>();
        find(said, "barrier (\\S+)()", "barrier", figures);
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
        for (Path folder : List.of(work, aeronFolder)) {
            if (!Files.exists(folder)) {
                continue;
            }
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path path : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(path);
                }
            }
        }
    }
}
