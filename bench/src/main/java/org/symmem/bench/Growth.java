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

    /** How a quantity grows. */
    public enum Form {
        /** {@code a * ranks^b}. */
        POWER,
        /** {@code a + b * ranks}. */
        LINE
    }

    /**
     * A law.
     *
     * @param quantity  its name
     * @param unit      of its values
     * @param form      a power or a line, whichever is nearer to the points
     * @param a         what the form calls so
     * @param b         what the form calls so
     * @param certainty R squared of the logarithms: 1 if all points lie on it
     */
    public record Fit(String quantity, String unit, Form form, double a, double b, double certainty) {
        /**
         * Fits by least squares of what the points are off in proportion.
         *
         * @param points at least two, with positive values and different numbers of ranks
         */
        public static Fit of(List<Point> points) {
            Fit power = power(points);
            Fit line = line(points);
            // A line that falls ends below nothing.
            return line.at(MANY) > 0 && line.missedBy(points) < power.missedBy(points) ? line.judgedBy(points) : power.judgedBy(points);
        }

        private static Fit power(List<Point> points) {
            double[] x = points.stream().mapToDouble(point -> Math.log(point.ranks())).toArray();
            double[] y = points.stream().mapToDouble(point -> Math.log(point.value())).toArray();
            double[] even = new double[x.length];
            java.util.Arrays.fill(even, 1);
            double[] found = leastSquares(x, y, even);
            return new Fit(points.getFirst().quantity(), points.getFirst().unit(), Form.POWER, Math.exp(found[0]), found[1], 0);
        }

        private static Fit line(List<Point> points) {
            double[] x = points.stream().mapToDouble(Point::ranks).toArray();
            double[] y = points.stream().mapToDouble(Point::value).toArray();
            double[] byProportion = points.stream().mapToDouble(point -> 1 / (point.value() * point.value())).toArray();
            double[] found = leastSquares(x, y, byProportion);
            return new Fit(points.getFirst().quantity(), points.getFirst().unit(), Form.LINE, found[0], found[1], 0);
        }

        /** {@return the a and b of {@code y = a + b * x}} */
        private static double[] leastSquares(double[] x, double[] y, double[] weights) {
            double w = 0;
            double meanX = 0;
            double meanY = 0;
            for (int i = 0; i < x.length; i++) {
                w += weights[i];
                meanX += weights[i] * x[i];
                meanY += weights[i] * y[i];
            }
            meanX /= w;
            meanY /= w;
            double xx = 0;
            double xy = 0;
            for (int i = 0; i < x.length; i++) {
                xx += weights[i] * (x[i] - meanX) * (x[i] - meanX);
                xy += weights[i] * (x[i] - meanX) * (y[i] - meanY);
            }
            double b = xy / xx;
            return new double[]{meanY - b * meanX, b};
        }

        private double missedBy(List<Point> points) {
            double sum = 0;
            for (Point point : points) {
                double found = at(point.ranks());
                double off = found <= 0 ? Double.POSITIVE_INFINITY : Math.log(found / point.value());
                sum += off * off;
            }
            return sum;
        }

        private Fit judgedBy(List<Point> points) {
            double mean = points.stream().mapToDouble(point -> Math.log(point.value())).average().orElseThrow();
            double all = points.stream().mapToDouble(point -> Math.pow(Math.log(point.value()) - mean, 2)).sum();
            // Points that are alike lie on the law that says so.
            double share = all < 1e-12 ? 1 : 1 - missedBy(points) / all;
            return new Fit(quantity, unit, form, a, b, share);
        }

        /** {@return the value that the law gives} */
        public double at(int ranks) {
            return switch (form) {
                case POWER -> a * Math.pow(ranks, b);
                case LINE -> a + b * ranks;
            };
        }

        /** {@return the law in words} */
        public String law() {
            return switch (form) {
                case POWER -> String.format(Locale.ROOT, "%.3g × ranks^%.2f %s", a, b, unit);
                case LINE -> String.format(Locale.ROOT, "%.3g %s %.3g × ranks %s", a, b < 0 ? "-" : "+", Math.abs(b), unit);
            };
        }
    }
}
