package org.symmem.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.symmem.bench.Peers;
import org.symmem.bench.Report;
import org.symmem.bench.Spread;

/** Runs ours and the peers in turns and divides: what disturbs the machine for longer than a round disturbs all of them. */
final class BesidePeers {
    private final BenchJob ours;
    private final Path programs;
    private final long[] sizes;
    private final int rounds;

    /** A peer's row. */
    private record Key(String peer, BenchJob.Key row) {}

    BesidePeers(BenchJob ours, Path programs, long[] sizes, int rounds) {
        this.ours = ours;
        this.programs = programs;
        this.sizes = sizes;
        this.rounds = rounds;
    }

    private Peers.Ours memory() {
        return ours.opened().backend().equals("host") ? Peers.Ours.HOST : Backends.emulated() ? Peers.Ours.EMULATED : Peers.Ours.DEVICE;
    }

    List<Report.Peer> measure() throws IOException {
        SequencedMap<Key, List<Double>> theirs = new LinkedHashMap<>();
        SequencedMap<String, String> notRun = new LinkedHashMap<>();
        try (Peers peers = new Peers(programs, ours.ranks(), sizes)) {
            for (int round = 0; round < rounds; round++) {
                ours.round();
                for (Peers.Peer peer : peers.all(memory())) {
                    if (notRun.containsKey(peer.name()) || !ours.measuresAny(peer.operations())) {
                        continue;
                    }
                    try {
                        peer.run()
                                .run()
                                .forEach(figure -> theirs
                                        .computeIfAbsent(new Key(peer.name(), new BenchJob.Key(figure.operation(), figure.bytes())),
                                                key -> new ArrayList<>())
                                        .add(figure.nanos()));
                    } catch (Peers.NotRunException e) {
                        notRun.put(peer.name(), String.valueOf(e.getMessage()));
                    }
                }
            }
        } catch (InterruptedException e) {
            throw new FailureException(1, "interrupted");
        }
        List<Report.Peer> rows = new ArrayList<>();
        Map<BenchJob.Key, double[]> own = ours.medians();
        theirs.forEach((key, nanos) -> {
            double[] mine = own.get(key.row());
            if (mine != null && mine.length == nanos.size()) {
                double[] ratios = new double[mine.length];
                for (int i = 0; i < mine.length; i++) {
                    ratios[i] = mine[i] / nanos.get(i);
                }
                double median = Spread.of(nanos.stream().mapToDouble(Double::doubleValue).toArray()).median();
                rows.add(
                        new Report.Peer(key.peer(), key.row().operation(), ours.ranks(), key.row().bytes(), median, Spread.of(ratios), ""));
            }
        });
        notRun.forEach((peer, reason) -> rows.add(new Report.Peer(peer, "", ours.ranks(), 0, 0, null, reason)));
        return rows;
    }
}
