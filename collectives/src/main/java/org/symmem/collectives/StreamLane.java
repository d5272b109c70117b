package org.symmem.collectives;

import java.time.Duration;
import org.symmem.Multicast;
import org.symmem.Signals;
import org.symmem.Stream;
import org.symmem.TensorView;

/** Steps in the order of a stream, which return at once. */
record StreamLane(Signals signals, Stream stream, Duration timeout) implements Lane {
    @Override
    public void copy(TensorView target, TensorView source) {
        target.copyFrom(source, stream);
    }

    @Override
    public void copy(TensorView[] targets, TensorView source) {
        source.copyTo(targets, stream);
    }

    @Override
    public void copy(Multicast target, long targetOffsetBytes, TensorView source) {
        target.copyFrom(source, targetOffsetBytes, stream);
    }

    @Override
    public void signal(int[] peers, int channel) {
        signals.signal(peers, channel, stream);
    }

    @Override
    public void await(int[] sources, int channel) {
        signals.await(sources, channel, stream, timeout);
    }
}
