package org.symmem.bench;

import java.util.List;
import java.util.Locale;

/**
 * How costs grow with the number of ranks.
 *
 * @param command  what was run
 * @param date     when it began, in UTC
 * @param machine  where
 * @param emulated whether the native libraries were emulated
 * @param points   what was measured
 * @param fits     the laws that fit it
 * @param notes    what to know when reading it
 */
public record Growth(String command, String date, Report.Machine machine, boolean emulated, List<Point> points, List<Fit> fits,
        List<String> notes) {
    /** The number of ranks for which the laws are asked. */
    public static final int MANY = 1000;

    /**
     * One quantity with one number of ranks.
     *
     * @param quantity its name
     * @param ranks    how many
     * @param value    the median
     * @param unit     of the value
     */
    public record Point(String quantity, int ranks, double value, String unit) {}

    /**
     * A power law: {@code factor * ranks^exponent}.
     *
     * @param quantity  its name
     * @param unit      of its values
     * @param factor    what one rank would cost
     * @param exponent  how it grows
     * @param certainty R squared of the logarithms: 1 if all points lie on it
     */
    public record Fit(String quantity, String unit, double factor, double exponent, double certainty) {
        /**
         * Fits by least squares of the logarithms.
         *
         * @param points at least two, with positive values and different numbers of ranks
         */
        public static Fit of(List<Point> points) {
            double n = points.size();
            double sumX = 0;
            double sumY = 0;
            for (Point point : points) {
                sumX += Math.log(point.ranks());
                sumY += Math.log(point.value());
            }
            double xx = 0;
            double xy = 0;
            double yy = 0;
            for (Point point : points) {
                double x = Math.log(point.ranks()) - sumX / n;
                double y = Math.log(point.value()) - sumY / n;
                xx += x * x;
                xy += x * y;
                yy += y * y;
            }
            double exponent = xy / xx;
            double certainty = yy == 0 ? 1 : xy * xy / (xx * yy);
            Point first = points.getFirst();
            return new Fit(first.quantity(), first.unit(), Math.exp(sumY / n - exponent * sumX / n), exponent, certainty);
        }

        /** {@return the value that the law gives} */
        public double at(int ranks) {
            return factor * Math.pow(ranks, exponent);
        }

        /** {@return the law in words} */
        public String law() {
            return String.format(Locale.ROOT, "%.3g %s × ranks^%.2f", factor, unit, exponent);
        }
    }
}
