package org.symmem.bench;

import java.util.Arrays;

/**
 * How values lie.
 *
 * @param number of values
 * @param median of them
 * @param p10    a tenth of them are at most this
 * @param p90    nine tenths of them are at most this
 * @param least  of them
 * @param most   of them
 */
public record Spread(int number, double median, double p10, double p90, double least, double most) {
    /**
     * @param values at least one, in any order
     * @return their spread
     */
    public static Spread of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Spread(sorted.length, at(sorted, 0.5), at(sorted, 0.1), at(sorted, 0.9), sorted[0], sorted[sorted.length - 1]);
    }

    /** Between two values in proportion. */
    private static double at(double[] sorted, double part) {
        double place = part * (sorted.length - 1);
        int below = (int) place;
        double rest = place - below;
        return rest == 0 ? sorted[below] : sorted[below] * (1 - rest) + sorted[below + 1] * rest;
    }
}
