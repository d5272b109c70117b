package org.symmem.collectives;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.symmem.DeadlineException;
import org.symmem.Stream;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/**
 * A broadcast or an allgather to one target, ready to be run as often as wanted.
 *
 * <p>Got from {@link Collectives}, which closes it. A round is {@link #post} and then {@link #await} on one stream, with other work
 * between them if wanted, or {@link #run} at once. Every rank runs the same rounds. Whatever the stream does before {@code post} is done
 * before the target changes; whatever it does after {@code await} finds the data there. Used by one thread at a time.
 */
public final class Collective implements AutoCloseable {
    private final String name;
    private final Algorithm algorithm;
    private final Ground ground;
    private final Exchange exchange;
    private final @Nullable TensorView sourcePlace;
    private final boolean runsInCaller;
    private long rounds;
    private @Nullable Stream posted;
    private @Nullable Stream own;
    private @Nullable SymmetricMemoryException failure;

    /**
     * @param sourcePlace  where the target will hold this rank's source; null on ranks that have none
     * @param runsInCaller whether {@link #run(TensorView, Duration)} needs no stream
     */
    Collective(String name, Algorithm algorithm, Ground ground, Exchange exchange, @Nullable TensorView sourcePlace,
            boolean runsInCaller) {
        this.name = name;
        this.algorithm = algorithm;
        this.ground = ground;
        this.exchange = exchange;
        this.sourcePlace = sourcePlace;
        this.runsInCaller = runsInCaller;
    }

    /** {@return how it moves data; the same on all ranks} */
    public Algorithm algorithm() {
        return algorithm;
    }

    /** {@return where the data comes to} */
    public SymmetricTensor target() {
        return ground.target();
    }

    /**
     * Puts the first half of a round on a stream, where waits have the group's timeout. Collective; returns at once.
     *
     * @param source what this rank sends, of the target's data type: the target's shape for a broadcast, without its outermost
     *               dimension for an allgather. It may be the very place in the target where it will come to, but not overlap the target otherwise.
     *               A broadcast takes the root's alone; the others may pass null. Unchanged until the round is awaited
     * @param stream runs it
     * @throws IllegalArgumentException if shape or type do not fit, or the source overlaps the target
     * @throws IllegalStateException    if the round before was not awaited, or the target or this is closed
     */
    public void post(@Nullable TensorView source, Stream stream) {
        check(source);
        post(new StreamLane(ground.tokens().signals(), stream, ground.target().memory().group().timeout()), source);
        posted = stream;
    }

    /**
     * Puts the second half of a round on the stream of the first. Collective; returns at once.
     *
     * @param stream  later operations on it find the data in the target
     * @param timeout of each wait on the stream, after which it fails; {@link Stream#synchronize} then throws
     * @throws IllegalStateException if no round was posted on the stream: its tokens would never come
     */
    public void await(Stream stream, Duration timeout) {
        if (posted != stream) {
            throw new IllegalStateException(this + (posted == null
                    ? ": nothing was posted, so an await would wait for ever"
                    : ": the round was posted on another stream; await it on the same one"));
        }
        await(new StreamLane(ground.tokens().signals(), stream, timeout));
        posted = null;
    }

    /** Puts a whole round on a stream. Collective; returns at once. See {@link #post} and {@link #await}. */
    public void run(@Nullable TensorView source, Stream stream, Duration timeout) {
        post(source, stream);
        await(stream, timeout);
    }

    /**
     * Does a whole round and blocks until the target holds the data. Collective.
     *
     * @param source  as {@link #post} takes it
     * @param timeout of each wait
     * @throws DeadlineException        if a rank does not come; this collective cannot be used any more
     * @throws IllegalArgumentException as {@link #post} does
     */
    public void run(@Nullable TensorView source, Duration timeout) {
        if (!runsInCaller) {
            Stream stream = own == null ? own = ground.target().memory().newStream() : own;
            run(source, stream, timeout);
            stream.synchronize(timeout);
            return;
        }
        check(source);
        try {
            Lane lane = new BlockingLane(ground.tokens().signals(), timeout);
            post(lane, source);
            await(lane);
        } catch (DeadlineException e) {
            failure = new DeadlineException(e.code(), this + ": " + e.getMessage(), e.missingRanks());
            throw failure;
        } catch (SymmetricMemoryException e) {
            failure = e;
            throw e;
        }
    }

    private void check(@Nullable TensorView source) {
        if (failure != null) {
            throw new IllegalStateException(this + " failed before, so its ranks may be in different rounds: close it and make a new one",
                    failure);
        }
        if (posted != null) {
            throw new IllegalStateException(this + ": the round before was not awaited yet");
        }
        if (!ground.target().isOpen()) {
            throw new IllegalStateException("closed: the target of " + this);
        }
        if (sourcePlace == null) {
            return;
        }
        if (source == null) {
            throw new IllegalArgumentException(this + ": this rank sends, so it needs a source");
        }
        if (source.dataType() != sourcePlace.dataType() || !source.shape().equals(sourcePlace.shape())) {
            throw new IllegalArgumentException(this + ": the source is " + source + ", it must be " + sourcePlace.dataType() + " "
                    + sourcePlace.shape());
        }
        if (source.overlaps(ground.target().local()) && !source.isSameAs(sourcePlace)) {
            throw new IllegalArgumentException(this + ": the source " + source
                    + " overlaps the target; it must be apart from it, or the very place that it will come to");
        }
    }

    private void post(Lane lane, @Nullable TensorView source) {
        exchange.post(lane, rounds, source);
    }

    private void await(Lane lane) {
        exchange.await(lane, rounds);
        rounds++;
    }

    /** Frees its tokens; the target stays. Local or collective as {@link SymmetricTensor#close} is. Closing twice is fine. */
    @Override
    public void close() {
        ground.tokens().close();
        if (own != null) {
            own.close();
        }
    }

    /** {@return for instance {@code broadcast from root 1 to SymmetricTensor[rank 0/2, float32 1024, host] by staged}} */
    @Override
    public String toString() {
        return name + " to " + ground.target() + " by " + algorithm;
    }
}
