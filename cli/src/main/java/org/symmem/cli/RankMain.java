package org.symmem.cli;

/** What every rank of this command does around its work: whatever ends it, its parent hears why. */
final class RankMain {
    private RankMain() {}

    /** The work of a rank. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    /** Runs the work and ends the process. */
    static void run(Body body) {
        try {
            body.run();
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            RankMessage.failure(e).print();
            System.exit(1);
        }
        System.exit(0);
    }
}
