package org.symmem.tck;

import java.util.concurrent.locks.LockSupport;

/** A kit whose ranks are up, for a test that kills it. */
final class KitToKill {
    private KitToKill() {}

    public static void main(String[] arguments) throws Exception {
        RankProcesses ranks = new RankProcesses(TckSettings.forBackend("host").withOutput(MutantTck.OUTPUT));
        System.out.println("up: " + ranks.report().device());
        while (true) {
            LockSupport.park(ranks);
        }
    }
}
