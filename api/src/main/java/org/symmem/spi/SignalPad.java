package org.symmem.spi;

/**
 * The signals of one tensor. Those without a stream are asked for only where the backend has {@code HOST_SIGNALS}, those on a stream where
 * it has {@code STREAM_SIGNALS}.
 *
 * <p>Each (channel, sender, receiver) counts: the nth wait is satisfied by the nth signal, and none is
 * lost. Barriers have counts of their own. A channel is used by one thread, or one stream, at a time; channels are independent.
 *
 * <p>Ranks and channels are checked before they come here. Signalling releases: all stores of the sender before it are seen by
 * whoever waited for it.
 */
public interface SignalPad {
    /** Signals a peer; blocks only for as long as a store takes. */
    default void signal(int peer, int channel) {
        throw new UnsupportedOperationException("this backend has no HOST_SIGNALS");
    }

    /**
     * Waits for the next signal of a peer. On a timeout nothing is consumed: waiting again waits for the same signal.
     *
     * @return whether it came; false if the timeout passed first
     * @throws org.symmem.RankLostException if the peer's process has ended
     */
    default boolean await(int source, int channel, long timeoutNanos) {
        throw new UnsupportedOperationException("this backend has no HOST_SIGNALS");
    }

    /**
     * Waits until all ranks are at the same barrier. On a timeout, calling again continues the same barrier.
     *
     * @return empty if all came, else the ranks that did not
     * @throws org.symmem.RankLostException if a missing rank's process has ended
     */
    default int[] barrier(int channel, long timeoutNanos) {
        throw new UnsupportedOperationException("this backend has no HOST_SIGNALS");
    }

    /** Signals a peer in the order of a stream. */
    default void signal(int peer, int channel, StreamQueue stream) {
        throw new UnsupportedOperationException("this backend has no STREAM_SIGNALS");
    }

    /** Makes a stream wait for the next signal of a peer; a wait past its timeout fails the stream. */
    default void await(int source, int channel, StreamQueue stream, long timeoutNanos) {
        throw new UnsupportedOperationException("this backend has no STREAM_SIGNALS");
    }

    /** Signals several peers in the order of a stream, at once where the backend can. */
    default void signal(int[] peers, int channel, StreamQueue stream) {
        for (int peer : peers) {
            signal(peer, channel, stream);
        }
    }

    /** Makes a stream wait for the next signal of several peers, at once where the backend can. */
    default void await(int[] sources, int channel, StreamQueue stream, long timeoutNanos) {
        for (int source : sources) {
            await(source, channel, stream, timeoutNanos);
        }
    }

    /** Makes a stream wait for all ranks; a wait past its timeout fails the stream. */
    default void barrier(int channel, StreamQueue stream, long timeoutNanos) {
        throw new UnsupportedOperationException("this backend has no STREAM_SIGNALS");
    }
}
