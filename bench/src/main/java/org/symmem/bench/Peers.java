package org.symmem.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What stands beside us: other programs that do the same work on this machine. Local; blocks; one thread. */
public final class Peers implements AutoCloseable {
    private final PeerPrograms programs;
    private final HostPeers host;
    private final GpuPeers gpu;

    /** Which memory we measure. */
    public enum Ours {
        /** Of the host. */
        HOST,
        /** Of a device. */
        DEVICE,
        /** Of a device that is emulated, beside which nothing can stand. */
        EMULATED
    }

    /**
     * @param given the folder of the programs that are not this project's
     * @param ranks how many take part
     * @param sizes in bytes
     */
    public Peers(Path given, int ranks, long[] sizes) throws IOException {
        this.programs = new PeerPrograms(given);
        this.host = new HostPeers(programs, ranks, sizes);
        this.gpu = new GpuPeers(programs, ranks);
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
     * @param name       for the reader
     * @param operations ours that it has figures for
     * @param run        runs it once
     */
    public record Peer(String name, Set<String> operations, Run run) {}

    /** {@return all of them; those that stand beside another memory than ours say so when they are run} */
    public List<Peer> all(Ours ours) {
        return switch (ours) {
            case HOST -> Stream.concat(host.all().stream(),
                    gpu.all().stream().map(peer -> refused(peer, "it measures memory of a GPU, and ours is the host's here")))
                    .toList();
            case DEVICE -> gpu.all();
            case EMULATED ->
                gpu.all().stream().map(peer -> refused(peer, "our libraries are emulated here, so no ratio would say anything")).toList();
        };
    }

    private static Peer refused(Peer peer, String reason) {
        return new Peer(peer.name(), peer.operations(), () -> {
            throw new NotRunException(reason);
        });
    }

    @Override
    public void close() throws IOException {
        try (programs) {
            host.close();
        }
    }
}
