package org.symmem.collectives;

import org.jspecify.annotations.Nullable;
import org.symmem.TensorView;

/** One operation by one algorithm, on one target: what a rank does in each half of a round. Rounds are counted from 0. */
interface Exchange {
    /** Tells receivers that the data is there. */
    int DONE = 0;
    /** Tells senders that the target is free, or readers that the data is there. */
    int READY = 1;

    /** The first half: after it the source's data is on its way. */
    void post(Lane lane, long round, @Nullable TensorView source);

    /** The second half: after it the target holds the data, and both target and source are free. */
    void await(Lane lane, long round);
}
