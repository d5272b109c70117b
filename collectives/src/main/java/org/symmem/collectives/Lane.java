package org.symmem.collectives;

import org.symmem.Multicast;
import org.symmem.TensorView;

/** Where the steps of a collective run: on a stream, or in the caller. */
interface Lane {
    void copy(TensorView target, TensorView source);

    /** Copies to several at once. */
    void copy(TensorView[] targets, TensorView source);

    void copy(Multicast target, long targetOffsetBytes, TensorView source);

    void signal(int[] peers, int channel);

    /** Waits for the next signal of each. */
    void await(int[] sources, int channel);
}
