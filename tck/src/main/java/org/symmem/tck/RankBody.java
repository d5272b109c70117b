package org.symmem.tck;

import java.io.Serializable;

/** What every rank does in a rule. Written as a lambda in the kit's process, sent to the ranks' processes and run there. */
@FunctionalInterface
public interface RankBody extends Serializable {
    /**
     * @param rank this rank's side of the kit
     * @throws Exception if the rule is broken; an {@link AssertionError} as well
     */
    void run(RankContext rank) throws Exception;
}
