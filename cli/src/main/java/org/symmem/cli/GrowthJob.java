package org.symmem.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.symmem.bench.Growth;
import org.symmem.bench.Report;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.spi.SignalPadLayout;

/** Measures with one number of ranks after the other, and fits what was found. One thread. */
final class GrowthJob {
    private static final int LEAST_POINTS = 3;

    private final List<Integer> worlds;
    private final Duration patience;

    /**
     * @param worlds   numbers of ranks, the least first
     * @param patience how long ranks may be silent
     */
    GrowthJob(List<Integer> worlds, Duration patience) {
        this.worlds = worlds;
        this.patience = patience;
    }

    /** Blocks until all is measured. */
    Growth measure(String command, String date, Report.Machine machine) throws IOException {
        SequencedMap<String, List<Growth.Point>> points = new LinkedHashMap<>();
        for (int ranks : worlds) {
            System.err.println("growth: " + ranks + " ranks");
            List<String> rank = JavaCommand.of(BenchJob.RANK_FLAGS, GrowthRank.class, List.of(Boolean.toString(ranks == worlds.getLast())));
            try (RankProgress progress = RankProgress.ofSteps(ranks + " ranks", ranks, (long) ranks * GrowthRank.STEPS)) {
                new RankJob(ranks, patience, progress, (from, message) -> {
                    if (message instanceof RankMessage.Grown grown) {
                        points.computeIfAbsent(grown.point().quantity(), name -> new ArrayList<>()).add(grown.point());
                    }
                }).run(rank);
            }
        }
        List<Growth.Fit> fits = points.values().stream().filter(all -> all.size() >= LEAST_POINTS).map(Growth.Fit::of).toList();
        return new Growth(command, date, machine, Backends.emulated(), points.values().stream().flatMap(List::stream).toList(), fits,
                notes(machine.processors()));
    }

    private static List<String> notes(int processors) {
        return List.of(
                "A law is drawn on from the ranks that were measured; the figures for " + Growth.MANY
                        + " ranks are computed, not measured.",
                "All ranks ran on the " + processors
                        + " processors of one machine. Where there were more ranks than processors, times are those of "
                        + "sharing them too; the processor time of one rank is what a rank with a processor of its own would need.",
                "Every rank tells every other in each step, so a rank's messages grow with the ranks and all ranks' with their square; "
                        + "the descriptors of a host backend have to go from each to each in any case.",
                "A rank's signal pad is, for each tensor with 16 channels, " + pad(2) + " bytes with 2 ranks and " + pad(Growth.MANY)
                        + " with "
                        + Growth.MANY + ", by its layout; every rank maps every pad.",
                "Linux allows a process 65530 mappings (vm.max_map_count) and as many descriptors as `ulimit -n` says; with " + Growth.MANY
                        + " ranks, mappings end first, and say how many tensors there can be.");
    }

    private static long pad(int ranks) {
        return new SignalPadLayout(ranks, 16).sizeBytes();
    }
}
