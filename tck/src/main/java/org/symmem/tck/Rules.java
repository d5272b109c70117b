package org.symmem.tck;

/** What every group of rules builds on: the ranks to run a rule's body on. */
interface Rules {
    /** {@return the running ranks} */
    RuleRun ranks();

    /** Runs the body of the rule that is under test. */
    interface RuleRun {
        /** Runs the body on all ranks; every one must come to its end. */
        void run(RankBody body);

        /** Runs the body on all ranks; the last rank must be killed by it, the others must come to its end. */
        void runUntilLastIsKilled(RankBody body);

        /** Puts a sentence beside the rule's verdict in the report: what was run of it. */
        void note(String text);
    }
}
