package org.symmem;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.symmem.spi.SignalPad;

/**
 * The signals of one tensor: each rank can signal each other on numbered channels, and all can meet at a barrier.
 *
 * <p>Signals count: the nth wait for a peer on a channel is satisfied by that peer's nth signal, so none is lost and none
 * blocks the sender. What a rank stored before it signalled is seen by the rank that waited for the signal. Barriers count apart
 * from signals. One thread (or stream) at a time uses a channel; different channels are independent. No method here is local
 * except {@link #signal}: each needs its counterpart on the peer.
 */
public final class Signals {
    private final SymmetricTensor tensor;
    private final SignalPad pad;
    private final int channels;

    Signals(SymmetricTensor tensor, SignalPad pad, int channels) {
        this.tensor = tensor;
        this.pad = pad;
        this.channels = channels;
    }

    /** {@return the number of channels} */
    public int channels() {
        return channels;
    }

    /**
     * Signals a peer. Local: returns at once, with all earlier stores of this thread released to the peer.
     *
     * @param peer    a rank of the group; this rank too
     * @param channel in {@code [0, channels())}
     * @throws IndexOutOfBoundsException       if the peer or the channel is out of range
     * @throws IllegalStateException           if the tensor is closed
     * @throws UnsupportedCapabilityException if the backend has no {@link Capability#HOST_SIGNALS}
     */
    public void signal(int peer, int channel) {
        check(Capability.HOST_SIGNALS, peer, channel);
        pad.signal(peer, channel);
    }

    /**
     * Waits for the next signal of a peer. Blocks the caller.
     *
     * @param source  a rank of the group; this rank too
     * @param channel in {@code [0, channels())}
     * @param timeout how long at most
     * @throws DeadlineException         if it did not come; nothing is consumed, and waiting again waits for the same signal
     * @throws RankLostException         if the peer's process has ended
     * @throws IndexOutOfBoundsException if the source or the channel is out of range
     * @throws IllegalStateException     if the tensor is closed
     */
    public void await(int source, int channel, Duration timeout) {
        check(Capability.HOST_SIGNALS, source, channel);
        if (!pad.await(source, channel, timeout.toNanos())) {
            throw late("no signal from rank " + source + " on channel " + channel, timeout, List.of(source));
        }
    }

    /**
     * Waits until all ranks are at the barrier: stores of every rank before it are seen by every rank after it. Collective;
     * blocks the caller.
     *
     * @param channel in {@code [0, channels())}
     * @param timeout how long at most
     * @throws DeadlineException         if ranks did not come; calling again continues the same barrier
     * @throws RankLostException         if a missing rank's process has ended
     * @throws IndexOutOfBoundsException if the channel is out of range
     * @throws IllegalStateException     if the tensor is closed
     */
    public void barrier(int channel, Duration timeout) {
        check(Capability.HOST_SIGNALS, 0, channel);
        int[] missing = pad.barrier(channel, timeout.toNanos());
        if (missing.length > 0) {
            List<Integer> ranks = new ArrayList<>();
            for (int rank : missing) {
                ranks.add(rank);
            }
            throw late("ranks " + ranks + " did not come to the barrier on channel " + channel, timeout, ranks);
        }
    }

    /** Signals a peer after everything that is on the stream. See {@link #signal(int, int)}. Returns at once. */
    public void signal(int peer, int channel, Stream stream) {
        check(Capability.STREAM_SIGNALS, peer, channel);
        pad.signal(peer, channel, tensor.useOn(stream));
    }

    /**
     * Makes the stream wait for the next signal of a peer. Returns at once.
     *
     * @param source  a rank of the group; this rank too
     * @param channel in {@code [0, channels())}
     * @param stream  later operations on it run after the signal
     * @param timeout after which the stream fails; {@link Stream#synchronize} then throws
     */
    public void await(int source, int channel, Stream stream, Duration timeout) {
        check(Capability.STREAM_SIGNALS, source, channel);
        pad.await(source, channel, tensor.useOn(stream), timeout.toNanos());
    }

    /**
     * Signals several peers as {@link #signal(int, int, Stream)} does one, in one native call where the backend can.
     *
     * @param peers ranks of the group, each once
     */
    public void signal(int[] peers, int channel, Stream stream) {
        check(Capability.STREAM_SIGNALS, peers, channel);
        if (peers.length == 0) {
            return;
        }
        pad.signal(peers, channel, tensor.useOn(stream));
    }

    /**
     * Makes the stream wait for the next signal of each of several peers, in one native call where the backend can.
     *
     * @param sources ranks of the group, each once
     * @param channel in {@code [0, channels())}
     * @param stream  later operations on it run after the signals
     * @param timeout after which the stream fails; {@link Stream#synchronize} then throws
     */
    public void await(int[] sources, int channel, Stream stream, Duration timeout) {
        check(Capability.STREAM_SIGNALS, sources, channel);
        if (sources.length == 0) {
            return;
        }
        pad.await(sources, channel, tensor.useOn(stream), timeout.toNanos());
    }

    /**
     * Makes the stream wait for all ranks' streams to come to the same barrier. Collective; returns at once.
     *
     * @param channel in {@code [0, channels())}
     * @param stream  later operations on it run after the barrier
     * @param timeout after which the stream fails; {@link Stream#synchronize} then throws
     */
    public void barrier(int channel, Stream stream, Duration timeout) {
        check(Capability.STREAM_SIGNALS, 0, channel);
        pad.barrier(channel, tensor.useOn(stream), timeout.toNanos());
    }

    private void check(Capability capability, int[] ranks, int channel) {
        for (int rank : ranks) {
            check(capability, rank, channel);
        }
    }

    private void check(Capability capability, int rank, int channel) {
        tensor.ensureOpen();
        if (rank < 0 || rank >= tensor.worldSize()) {
            throw tensor.rankOutOfRange(rank);
        }
        if (channel < 0 || channel >= channels) {
            throw new IndexOutOfBoundsException("channel " + channel + " is not in [0, " + channels + ") of " + tensor);
        }
        tensor.require(capability);
    }

    private DeadlineException late(String what, Duration timeout, List<Integer> ranks) {
        return new DeadlineException(ErrorCode.SIGNAL_TIMEOUT,
                tensor + " on host " + org.symmem.spi.HostIdentity.local().name() + ": " + what + " within " + timeout.toMillis()
                        + " ms; check that these ranks run and reach it, or allow more time",
                ranks);
    }
}
