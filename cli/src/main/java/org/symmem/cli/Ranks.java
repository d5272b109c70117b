package org.symmem.cli;

import picocli.CommandLine.Option;

/** The option for the number of ranks, alike in every command. */
final class Ranks {
    private static final int MOST = 1024;

    @Option(names = "--ranks", paramLabel = "N", defaultValue = "2", description = "number of ranks, each a process (default: ${DEFAULT-VALUE})")
    private int number;

    int number() {
        return checked(number);
    }

    /** {@return the number, if there can be so many} */
    static int checked(int number) {
        if (number < 1 || number > MOST) {
            throw new UsageException("--ranks is " + number + "; it is a number from 1 to " + MOST);
        }
        return number;
    }
}
