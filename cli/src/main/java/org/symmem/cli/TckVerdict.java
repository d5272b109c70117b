package org.symmem.cli;

/** How a rule went. */
enum TckVerdict {
    PASSED("passed"), FAILED("FAILED"), NOT_APPLICABLE("n/a"), UNTESTED("untested");

    private final String word;

    TckVerdict(String word) {
        this.word = word;
    }

    /** {@return the verdict as reports print it} */
    String word() {
        return word;
    }
}
