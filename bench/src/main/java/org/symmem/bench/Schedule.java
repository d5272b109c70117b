package org.symmem.bench;

/**
 * How often a row is measured.
 *
 * @param repetitions  batches that count
 * @param warmUpMillis how long batches that do not count go on before
 */
public record Schedule(int repetitions, int warmUpMillis) {
    /** Fewer are no spread. */
    public static final int LEAST_REPETITIONS = 3;

    /** Checks the values. */
    public Schedule {
        if (repetitions < LEAST_REPETITIONS || repetitions > 1000) {
            throw new IllegalArgumentException("repetitions are " + repetitions + "; they are from " + LEAST_REPETITIONS + " to 1000");
        }
        if (warmUpMillis < 0 || warmUpMillis > 60_000) {
            throw new IllegalArgumentException("the warm-up is " + warmUpMillis + " ms; it is from 0 to 60000");
        }
    }
}
