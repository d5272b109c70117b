package org.symmem.bench;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.LongStream;

/** Sizes in bytes as users write and read them: {@code 8}, {@code 4KiB}, {@code 1GiB}, and ranges of them. */
public final class Sizes {
    /** Fine enough for a curve; the sizes of the OpenSHMEM program are among those from 8 on. */
    private static final int FACTOR = 4;
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB"};

    private Sizes() {}

    /**
     * @param text sizes and ranges, by commas; a range {@code A..B} has A, four times it, and so on, and B
     * @return all of them, once each, the least first
     * @throws IllegalArgumentException if a size is not one; says how it is written
     */
    public static long[] parse(String text) {
        return Arrays.stream(text.split(",")).flatMapToLong(Sizes::range).sorted().distinct().toArray();
    }

    private static LongStream range(String text) {
        int dots = text.indexOf("..");
        if (dots < 0) {
            return LongStream.of(size(text));
        }
        long first = size(text.substring(0, dots));
        long last = size(text.substring(dots + 2));
        if (first > last) {
            throw new IllegalArgumentException("the range " + text + " ends before it begins");
        }
        return LongStream.concat(LongStream.iterate(first, size -> size < last, size -> size * FACTOR), LongStream.of(last));
    }

    private static long size(String text) {
        String lower = text.strip().toLowerCase(Locale.ROOT);
        for (int unit = UNITS.length - 1; unit >= 0; unit--) {
            String suffix = UNITS[unit].toLowerCase(Locale.ROOT);
            if (lower.endsWith(suffix)) {
                return bytes(text, lower.substring(0, lower.length() - suffix.length()).strip(), unit);
            }
        }
        return bytes(text, lower, 0);
    }

    private static long bytes(String text, String number, int unit) {
        if (number.matches("[0-9]{1,12}")) {
            long bytes = Long.parseLong(number) << 10 * unit;
            if (bytes > 0 && bytes <= 1L << 40) {
                return bytes;
            }
        }
        throw new IllegalArgumentException("\"" + text + "\" is no size; write 8, 4KiB, 1GiB or a range as 8..1GiB, up to 1024GiB");
    }

    /** {@return the size in the largest unit that leaves it whole, for instance {@code 4 KiB}} */
    public static String text(long bytes) {
        int unit = 0;
        long left = bytes;
        while (unit < UNITS.length - 1 && left > 0 && left % 1024 == 0) {
            left /= 1024;
            unit++;
        }
        return left + " " + UNITS[unit];
    }
}
