package org.symmem.bench;

import java.util.List;
import java.util.Locale;

/**
 * All that one run of {@code symmem bench} found, as it is kept in JSON.
 *
 * @param command  what was run
 * @param date     when it began, in UTC
 * @param machine  where
 * @param backend  in use
 * @param device   of rank 0, in words
 * @param emulated whether the native libraries were emulated, so that it says nothing about hardware
 * @param timing   how a batch was timed, in words
 * @param rows     what was measured
 * @param skipped  what was not, and why
 * @param peers    the peers' figures beside ours
 */
public record Report(String command, String date, Machine machine, String backend, String device, boolean emulated, String timing,
        List<Row> rows, List<Skipped> skipped, List<Peer> peers) {
    /**
     * Where it ran.
     *
     * @param system     kernel and processor architecture
     * @param processor  its model
     * @param processors how many the process may use
     * @param load       the load average of the last minute when it began, for other work disturbs; negative if unknown
     * @param versions   of symmem and Java
     */
    public record Machine(String system, String processor, int processors, double load, String versions) {}

    /**
     * One operation with one size and number of ranks.
     *
     * @param operation its name
     * @param ranks     how many took part
     * @param bytes     the size; 0 where it has none
     * @param moved     bytes that a call moves; 0 where it moves none
     * @param nanos     a call
     */
    public record Row(String operation, int ranks, long bytes, long moved, Spread nanos) {
        /** {@return 10^9 bytes a second at the median; 0 where nothing is moved} */
        public double gigabytesPerSecond() {
            return moved / nanos.median();
        }
    }

    /**
     * An operation that was not measured.
     *
     * @param operation its name
     * @param reason    why
     */
    public record Skipped(String operation, String reason) {}

    /**
     * A peer's figure beside ours, or why there is none.
     *
     * @param peer      its name
     * @param operation ours that it is compared with
     * @param ranks     how many took part
     * @param bytes     the size; 0 where it has none
     * @param nanos     a call of the peer's; the median over the rounds
     * @param ratio     our time divided by the peer's, of each round: below 1 we are faster
     * @param notRun    why there is no figure; empty where there is
     */
    public record Peer(String peer, String operation, int ranks, long bytes, double nanos, @org.jspecify.annotations.Nullable Spread ratio,
            String notRun) {}

    /** {@return a number to three digits, or whole where it is larger than that} */
    public static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) >= 999.5 ? "%,.0f" : "%.3g", value);
    }

    /** {@return a time in the unit that suits it} */
    public static String time(double nanos) {
        return nanos < 1e4 ? String.format(Locale.ROOT, "%.4g ns", nanos)
                : nanos < 1e7 ? String.format(Locale.ROOT, "%.4g µs", nanos / 1e3)
                        : String.format(Locale.ROOT, "%.4g ms", nanos / 1e6);
    }
}
