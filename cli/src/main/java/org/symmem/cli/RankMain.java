package org.symmem.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.symmem.SymmetricMemoryException;

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
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace));
            boolean explained = e instanceof SymmetricMemoryException || e instanceof FailureException;
            new RankMessage.Failure(explained ? String.valueOf(e.getMessage()) : e.toString(), trace.toString()).print();
            System.exit(1);
        }
        System.exit(0);
    }
}
