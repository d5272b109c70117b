package org.symmem.collectives;

import java.time.Duration;
import org.symmem.Multicast;
import org.symmem.Signals;
import org.symmem.TensorView;

/** Steps that are done when they return, for memory that the CPU reaches: without a stream's thread they cost a tenth. */
record BlockingLane(Signals signals, Duration timeout) implements Lane {
    @Override
    public void copy(TensorView target, TensorView source) {
        target.copyFrom(source);
    }

    @Override
    public void copy(TensorView[] targets, TensorView source) {
        for (TensorView target : targets) {
            target.copyFrom(source);
        }
    }

    @Override
    public void copy(Multicast target, long targetOffsetBytes, TensorView source) {
        throw new IllegalStateException("multicast needs a stream");
    }

    @Override
    public void signal(int[] peers, int channel) {
        for (int peer : peers) {
            signals.signal(peer, channel);
        }
    }

    @Override
    public void await(int[] sources, int channel) {
        for (int source : sources) {
            signals.await(source, channel, timeout);
        }
    }
}
