package org.symmem.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.symmem.rendezvous.JavaCommand;

/** What stands beside the host backend: the C library's copy, OpenSHMEM, and Aeron as the JVM's own. */
final class HostPeers implements AutoCloseable {
    /** What the heap of OpenSHMEM is asked to hold. */
    private static final long MOST_COLLECTIVE_BYTES = 256L << 20;

    private final PeerPrograms programs;
    private final int ranks;
    private final long[] sizes;
    private final Path aeronFolder;

    HostPeers(PeerPrograms programs, int ranks, long[] sizes) throws IOException {
        this.programs = programs;
        this.ranks = ranks;
        this.sizes = sizes;
        // In memory, where Aeron's own default is, and not in a file system that writes it back.
        Path memory = Path.of("/dev/shm");
        this.aeronFolder = Files.isWritable(memory) ? Files.createTempDirectory(memory, "symmem-aeron") : programs.place("aeron");
    }

    List<Peers.Peer> all() {
        return List.of(new Peers.Peer("C memcpy in one process", Set.of("local", "put", "get", "store"), this::memcpy),
                new Peers.Peer("OpenSHMEM", Set.of("put", "signal", "barrier"), this::openShmem),
                new Peers.Peer("OpenSHMEM collectives", Set.of("broadcast", "allgather"), this::openShmemCollectives),
                new Peers.Peer("Aeron IPC, threads", Set.of("signal", "barrier"), this::aeron));
    }

    private List<Peers.Figure> memcpy() throws IOException, InterruptedException, Peers.NotRunException {
        String said = programs.output(
                Stream.concat(Stream.of(programs.compiled("gcc", programs.own("memcpy.c"))), LongStream.of(sizes).mapToObj(Long::toString))
                        .toList());
        List<Peers.Figure> figures = new ArrayList<>();
        find(said, "store (\\S+)()", "store", figures);
        Matcher copies = Pattern.compile("(?m)^(\\d+) (\\S+)$").matcher(said);
        while (copies.find()) {
            for (String operation : List.of("local", "put", "get")) {
                figures.add(new Peers.Figure(operation, Long.parseLong(copies.group(1)), Double.parseDouble(copies.group(2))));
            }
        }
        return figures;
    }

    private String onPes(String program, List<String> arguments) throws IOException, InterruptedException, Peers.NotRunException {
        return programs.output(Stream.concat(
                Stream.of("oshrun", "--allow-run-as-root", "--oversubscribe", "-np", Integer.toString(ranks), program),
                arguments.stream()).toList());
    }

    private List<Peers.Figure> openShmem() throws IOException, InterruptedException, Peers.NotRunException {
        String said = onPes(programs.compiled("oshcc", programs.given("oshmem_bench.c")), List.of());
        List<Peers.Figure> figures = new ArrayList<>();
        find(said, "barrier_ns (\\S+)()", "barrier", figures);
        find(said, "signal_roundtrip_ns (\\S+)()", "signal", figures);
        Matcher puts = Pattern.compile("put_(\\d+)B_GBps \\S+ ns/op (\\S+)").matcher(said);
        while (puts.find()) {
            figures.add(new Peers.Figure("put", Long.parseLong(puts.group(1)), Double.parseDouble(puts.group(2))));
        }
        return figures;
    }

    private List<Peers.Figure> openShmemCollectives() throws IOException, InterruptedException, Peers.NotRunException {
        // A heap that holds what all PEs give, and whole words, of which OpenSHMEM 1.4 makes its collectives.
        List<String> possible = LongStream.of(sizes)
                .filter(size -> size % Long.BYTES == 0 && size <= MOST_COLLECTIVE_BYTES / ranks)
                .mapToObj(Long::toString)
                .toList();
        if (possible.isEmpty()) {
            throw new Peers.NotRunException("it takes multiples of " + Long.BYTES + " bytes up to " + Sizes.text(MOST_COLLECTIVE_BYTES)
                    + " for all ranks together");
        }
        String said = onPes(programs.compiled("oshcc", programs.own("openshmem_collectives.c")), possible);
        List<Peers.Figure> figures = new ArrayList<>();
        Matcher found = Pattern.compile("(broadcast|allgather)_(\\d+)B (\\S+) us").matcher(said);
        while (found.find()) {
            figures.add(new Peers.Figure(found.group(1), Long.parseLong(found.group(2)), Double.parseDouble(found.group(3)) * 1e3));
        }
        return figures;
    }

    /** In a process of its own, for Agrona reaches into the JDK. */
    private List<Peers.Figure> aeron() throws IOException, InterruptedException, Peers.NotRunException {
        String said = programs.output(JavaCommand.of(List.of("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--add-opens=java.base/java.util.zip=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"), AeronPeer.class,
                List.of(aeronFolder.toString(), Integer.toString(ranks))));
        List<Peers.Figure> figures = new ArrayList<>();
        find(said, "barrier (\\S+)()", "barrier", figures);
        find(said, "signal (\\S+)()", "signal", figures);
        return figures;
    }

    private static void find(String said, String pattern, String operation, List<Peers.Figure> figures) {
        Matcher found = Pattern.compile(pattern).matcher(said);
        if (found.find()) {
            figures.add(new Peers.Figure(operation, 0, Double.parseDouble(found.group(1))));
        }
    }

    @Override
    public void close() throws IOException {
        PeerPrograms.delete(aeronFolder);
    }
}
