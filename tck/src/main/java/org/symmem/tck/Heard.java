package org.symmem.tck;

/** What the kit heard from a rank while it listened. */
sealed interface Heard {
    /**
     * The rank said something.
     *
     * @param message what
     */
    record Said(KitMessage message) implements Heard {}

    /** Nothing came in the time that was given. */
    record Nothing() implements Heard {}

    /** The connection has ended, and the rank with it or soon after. */
    record Gone() implements Heard {}
}
