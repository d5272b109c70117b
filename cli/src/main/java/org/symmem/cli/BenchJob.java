package org.symmem.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.symmem.bench.Measurement;
import org.symmem.bench.Operations;
import org.symmem.bench.Report;
import org.symmem.bench.Schedule;
import org.symmem.bench.Spread;
import org.symmem.rendezvous.JavaCommand;

/** Measures with one number of ranks, as often as asked for, and keeps what was found. One thread. */
final class BenchJob {
    /** What is shared lies outside the heap; one stack and little heap a rank, so that many fit. */
    static final List<String> RANK_FLAGS = List.of("-Xmx128m", "-XX:-UsePerfData");

    private final int ranks;
    private final List<String> operations;
    private final long[] sizes;
    private final Schedule schedule;
    private final Duration patience;
    private final SequencedMap<Key, List<double[]>> rounds = new LinkedHashMap<>();
    private final SequencedMap<String, String> skipped = new LinkedHashMap<>();
    private RankMessage.@Nullable Opened opened;

    /** A row. */
    record Key(String operation, long bytes) {}

    BenchJob(int ranks, List<String> operations, long[] sizes, Schedule schedule, Duration patience) {
        this.ranks = ranks;
        this.operations = operations;
        this.sizes = sizes;
        this.schedule = schedule;
        this.patience = patience;
    }

    int ranks() {
        return ranks;
    }

    boolean measuresAny(Set<String> others) {
        return operations.stream().anyMatch(others::contains);
    }

    /** Blocks until all is measured once more. */
    void round() throws IOException {
        List<String> command = JavaCommand.of(RANK_FLAGS, BenchRank.class, List.of(String.join(",", operations),
                LongStream.of(sizes).mapToObj(Long::toString).collect(Collectors.joining(",")), Integer.toString(schedule.repetitions()),
                Integer.toString(schedule.warmUpMillis())));
        try (RankProgress progress = RankProgress.ofSteps(ranks == 1 ? "1 rank" : ranks + " ranks", ranks,
                BenchRank.rows(operations, sizes.length))) {
            new RankJob(ranks, patience, progress, (rank, message) -> hear(message)).run(command);
        }
        if (opened == null) {
            throw new FailureException(1, "the ranks ended well and said nothing; something else writes to their standard output");
        }
    }

    private void hear(RankMessage message) {
        switch (message) {
            case RankMessage.Opened o -> opened = o;
            case RankMessage.Skipped s -> skipped.put(s.operation(), s.reason());
            case RankMessage.Measured m -> {
                Measurement one = m.measurement();
                rounds.computeIfAbsent(new Key(one.operation(), one.bytes()), key -> new ArrayList<>()).add(one.nanos());
            }
            default -> {
                // Nothing that a benchmark says.
            }
        }
    }

    RankMessage.Opened opened() {
        return java.util.Objects.requireNonNull(opened);
    }

    List<Report.Row> rows() {
        List<Report.Row> rows = new ArrayList<>();
        rounds.forEach((key, nanos) -> rows.add(new Report.Row(key.operation(), ranks, key.bytes(), moved(key),
                Spread.of(nanos.stream().flatMapToDouble(DoubleStream::of).toArray()))));
        return rows;
    }

    private long moved(Key key) {
        return Operations.named(key.operation()).movedBytes(ranks, key.bytes());
    }

    List<Report.Skipped> skipped() {
        return skipped.entrySet()
                .stream()
                .map(one -> new Report.Skipped(one.getKey(), "with " + ranks + " ranks: " + one.getValue()))
                .toList();
    }

    /** {@return the median of each round, if the row was measured} */
    Map<Key, double[]> medians() {
        Map<Key, double[]> medians = new LinkedHashMap<>();
        rounds.forEach((key, nanos) -> medians.put(key, nanos.stream().mapToDouble(round -> Spread.of(round).median()).toArray()));
        return medians;
    }
}
