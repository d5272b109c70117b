package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.symmem.ErrorCode;
import org.symmem.RankLostException;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/**
 * Signals in device memory. On a stream a signal is a store and a wait is parked by the device until the word has come; stores and
 * waits of a barrier go to the driver in one call. A blocking wait looks at its own word by small copies, so it parks nothing and
 * can be repeated after a timeout.
 *
 * <p>A wait that is parked on a stream and times out is released by storing what it awaits, which makes the counts of its channel
 * meaningless: the channel is broken from then on, the others go on.
 */
public final class CudaSignalPad implements SignalPad {
    private static final long SPIN_NANOS = 200_000;
    private static final long PAUSE_NANOS = 50_000;
    /** How long a blocking wait goes on before it looks whether the peer still lives. */
    private static final long LOST_LOOK_NANOS = 20_000_000;

    private final CudaEngine engine;
    private final SignalPadLayout layout;
    private final int rank;
    private final long[] pads;
    private final Supplier<Set<Integer>> lostRanks;
    private final String where;
    private final boolean flush;
    private final long[] sent;
    private final long[] received;
    private final long[] barriers;
    private final BitSet broken = new BitSet();
    private final ThreadLocal<MemorySegment> operations;

    /**
     * @param pads      every rank's pad as this process maps it, in rank order
     * @param lostRanks who is known to be gone
     * @param where     the tensor in words, for errors
     */
    public CudaSignalPad(CudaEngine engine, SignalPadLayout layout, int rank, long[] pads, Supplier<Set<Integer>> lostRanks, String where) {
        this.engine = engine;
        this.layout = layout;
        this.rank = rank;
        this.pads = pads;
        this.lostRanks = lostRanks;
        this.where = where;
        this.flush = engine.flushesRemoteWrites();
        this.sent = new long[layout.channels() * layout.worldSize()];
        this.received = new long[layout.channels() * layout.worldSize()];
        this.barriers = new long[layout.channels()];
        this.operations = ThreadLocal
                .withInitial(() -> Arena.ofAuto().allocate(CudaStructures.OPERATION_BYTES * 2 * layout.worldSize(), 8));
    }

    String where() {
        return where;
    }

    long ownWord(long offset) {
        return engine.readWord(pads[rank] + offset);
    }

    private long word(int of, long offset) {
        return engine.readWord(pads[of] + offset);
    }

    /** Stores what a parked wait awaits, from another stream. */
    synchronized void release(int channel, long[] offsets, long[] expected) {
        broken.set(channel);
        MemorySegment batch = Arena.ofAuto().allocate(CudaStructures.OPERATION_BYTES * offsets.length, 8);
        for (int i = 0; i < offsets.length; i++) {
            CudaStructures.write(batch, i, pads[rank] + offsets[i], expected[i]);
        }
        engine.service().batch(batch, offsets.length, "releasing a wait that timed out");
    }

    private synchronized void requireWhole(int channel) {
        if (broken.get(channel)) {
            throw new SymmetricMemoryException(ErrorCode.CHANNEL_BROKEN, where + ": channel " + channel
                    + " is broken, since a wait on a stream timed out on it; use another channel, or a new tensor");
        }
    }

    // ---- blocking ----

    @Override
    public void signal(int peer, int channel) {
        signal(peer, channel, engine.service());
    }

    @Override
    public boolean await(int source, int channel, long timeoutNanos) {
        requireWhole(channel);
        int index = channel * layout.worldSize() + source;
        long expected = received[index] + 1;
        if (!reached(layout.signalsOffset(channel, source), expected, r -> r == source, System.nanoTime(), timeoutNanos)) {
            return false;
        }
        received[index] = expected;
        return true;
    }

    @Override
    public int[] barrier(int channel, long timeoutNanos) {
        requireWhole(channel);
        long number = barriers[channel] + 1;
        int worldSize = layout.worldSize();
        MemorySegment batch = operations.get();
        int count = 0;
        for (int peer = 0; peer < worldSize; peer++) {
            CudaStructures.write(batch, count++, pads[peer] + layout.arrivalsOffset(channel, rank), number);
        }
        engine.service().batch(batch, count, "coming to a barrier");
        long start = System.nanoTime();
        for (int peer = 0; peer < worldSize; peer++) {
            long offset = layout.arrivalsOffset(channel, peer);
            if (!reached(offset, number, r -> ownWord(layout.arrivalsOffset(channel, r)) < number, start, timeoutNanos)) {
                return IntStream.range(0, worldSize).filter(r -> ownWord(layout.arrivalsOffset(channel, r)) < number).toArray();
            }
        }
        barriers[channel] = number;
        return new int[0];
    }

    private boolean reached(long offset, long expected, java.util.function.IntPredicate needed, long start, long timeoutNanos) {
        long nextLook = LOST_LOOK_NANOS;
        while (ownWord(offset) < expected) {
            long waited = System.nanoTime() - start;
            if (waited >= timeoutNanos) {
                return false;
            }
            if (waited >= nextLook) {
                nextLook = waited + LOST_LOOK_NANOS;
                for (int lost : lostRanks.get()) {
                    // It may have signalled just before it ended.
                    if (needed.test(lost) && ownWord(offset) < expected) {
                        throw new RankLostException(lost, where + ": rank " + lost
                                + " has ended, or closed its symmetric memory, while this rank waited for it; see that rank's output");
                    }
                }
            }
            if (waited >= SPIN_NANOS) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        return true;
    }

    // ---- on a stream ----

    @Override
    public void signal(int peer, int channel, StreamQueue stream) {
        signal(new int[]{peer}, channel, stream);
    }

    @Override
    public void signal(int[] peers, int channel, StreamQueue stream) {
        requireWhole(channel);
        MemorySegment batch = operations.get();
        for (int i = 0; i < peers.length; i++) {
            long count = ++sent[channel * layout.worldSize() + peers[i]];
            CudaStructures.write(batch, i, pads[peers[i]] + layout.signalsOffset(channel, rank), count);
        }
        ((CudaStream) stream).batch(batch, peers.length, "signalling peers");
    }

    @Override
    public void await(int source, int channel, StreamQueue stream, long timeoutNanos) {
        await(new int[]{source}, channel, stream, timeoutNanos);
    }

    @Override
    public void await(int[] sources, int channel, StreamQueue stream, long timeoutNanos) {
        requireWhole(channel);
        long[] expected = new long[sources.length];
        long[] offsets = new long[sources.length];
        MemorySegment batch = operations.get();
        for (int i = 0; i < sources.length; i++) {
            expected[i] = ++received[channel * layout.worldSize() + sources[i]];
            offsets[i] = layout.signalsOffset(channel, sources[i]);
            CudaStructures.waitFor(batch, i, pads[rank] + offsets[i], expected[i], flush);
        }
        park((CudaStream) stream, batch, sources.length, new ParkedWait(this, channel, offsets, sources.clone(), expected,
                "no signal from " + (sources.length == 1 ? "rank " + sources[0] : "ranks " + Arrays.toString(sources)) + " on channel "
                        + channel,
                System.nanoTime(), timeoutNanos));
    }

    @Override
    public void barrier(int channel, StreamQueue stream, long timeoutNanos) {
        requireWhole(channel);
        long number = ++barriers[channel];
        int worldSize = layout.worldSize();
        int[] others = IntStream.range(0, worldSize).filter(peer -> peer != rank).toArray();
        long[] offsets = Arrays.stream(others).mapToLong(peer -> layout.arrivalsOffset(channel, peer)).toArray();
        MemorySegment batch = operations.get();
        int count = 0;
        for (int peer = 0; peer < worldSize; peer++) {
            CudaStructures.write(batch, count++, pads[peer] + layout.arrivalsOffset(channel, rank), number);
        }
        for (int i = 0; i < others.length; i++) {
            CudaStructures.waitFor(batch, count++, pads[rank] + offsets[i], number, flush);
        }
        park((CudaStream) stream, batch, count,
                new ParkedWait(this, channel, offsets, others, LongStream.generate(() -> number).limit(others.length).toArray(),
                        "ranks did not come to the barrier on channel " + channel, System.nanoTime(), timeoutNanos));
    }

    private void park(CudaStream stream, MemorySegment batch, int count, ParkedWait wait) {
        stream.batch(batch, count, "waiting on a stream");
        stream.parked(wait);
        engine.watch(stream);
    }
}
