package org.symmem.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads what the programs beside device memory print. Sizes there are in MiB, times in µs, bandwidths in 10^9 bytes a second, one way. */
final class GpuFigures {
    private static final DoubleUnaryOperator MICROS = value -> value * 1e3;

    private GpuFigures() {}

    /** {@return the figures of {@code vmm_limit.py}: the driver's own calls between two processes} */
    static List<Peers.Figure> rawCalls(String said) {
        List<Peers.Figure> figures = new ArrayList<>();
        // Three of each size, of which the first warms up.
        Matcher pairs = Pattern.compile("alloc_us,exchange_us (\\d+) MiB \\[(\\d+), (\\d+)\\]").matcher(said);
        pairs.results()
                .collect(Collectors.groupingBy(pair -> bytes(pair.group(1)), TreeMap::new, Collectors.toList()))
                .forEach((size, all) -> {
                    figures.add(new Peers.Figure("allocate", size, median(all, 2) * 1e3));
                    figures.add(new Peers.Figure("rendezvous", size, median(all, 3) * 1e3));
                });
        bandwidths(said, "copy_to_peer_(\\d+)MiB_senders1_GBps_oneway (\\S+)", "put", figures);
        bandwidths(said, "copy_to_local_(\\d+)MiB_senders1_GBps_oneway (\\S+)", "local", figures);
        last(said, "write_wait_roundtrip_us (\\S+)", "signal", figures);
        return figures;
    }

    /** {@return the figure of {@code vmm_barrier.py}: all ranks' write-values and wait-values} */
    static List<Peers.Figure> rawBarrier(String said) {
        List<Peers.Figure> figures = new ArrayList<>();
        last(said, "ranks all-to-all barrier us (\\S+)", "barrier", figures);
        return figures;
    }

    /** {@return the figures of {@code raw_collectives.py}} */
    static List<Peers.Figure> rawCollectives(String said) {
        List<Peers.Figure> figures = new ArrayList<>();
        Matcher found = Pattern.compile("raw_(broadcast|allgather)_(\\d+)B (\\S+) us").matcher(said);
        while (found.find()) {
            figures.add(new Peers.Figure(found.group(1), Long.parseLong(found.group(2)),
                    MICROS.applyAsDouble(Double.parseDouble(found.group(3)))));
        }
        return figures;
    }

    /** {@return the figures of {@code nvshmem_bench.py}: NVSHMEM's own calls} */
    static List<Peers.Figure> nvshmem(String said) {
        List<Peers.Figure> figures = new ArrayList<>();
        bandwidths(said, "put_(\\d+)MiB_senders1_GBps_oneway (\\S+)", "put", figures);
        last(said, "barrier_on_stream_us_1000 (\\S+)", "barrier", figures);
        last(said, "signal_roundtrip_us (\\S+)", "signal", figures);
        return figures;
    }

    /** {@return the figures of {@code torch_symmetric.py}: PyTorch's symmetric memory, one rank a GPU} */
    static List<Peers.Figure> torch(String said) {
        List<Peers.Figure> figures = new ArrayList<>();
        Matcher found = Pattern.compile("(?m)^(allocate|rendezvous)_(\\d+)MiB (\\S+) us$").matcher(said);
        while (found.find()) {
            figures.add(new Peers.Figure(found.group(1), bytes(found.group(2)), MICROS.applyAsDouble(Double.parseDouble(found.group(3)))));
        }
        last(said, "(?m)^barrier (\\S+) us$", "barrier", figures);
        bandwidths(said, "copy_(\\d+)MiB_one_sender (\\S+) GB/s", "put", figures);
        return figures;
    }

    private static long bytes(String mebibytes) {
        return Long.parseLong(mebibytes) << 20;
    }

    private static double median(List<MatchResult> all, int group) {
        return Spread.of(all.stream().mapToDouble(one -> Double.parseDouble(one.group(group))).toArray()).median();
    }

    /** 10^9 bytes a second are bytes a nanosecond. */
    private static void bandwidths(String said, String pattern, String operation, List<Peers.Figure> figures) {
        Matcher found = Pattern.compile(pattern).matcher(said);
        while (found.find()) {
            long bytes = bytes(found.group(1));
            figures.add(new Peers.Figure(operation, bytes, bytes / Double.parseDouble(found.group(2))));
        }
    }

    /** The last of several, which is of the most calls. */
    private static void last(String said, String pattern, String operation, List<Peers.Figure> figures) {
        Matcher found = Pattern.compile(pattern).matcher(said);
        found.results()
                .reduce((one, next) -> next)
                .ifPresent(one -> figures.add(new Peers.Figure(operation, 0, MICROS.applyAsDouble(Double.parseDouble(one.group(1))))));
    }
}
