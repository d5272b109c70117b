package org.symmem;

import org.symmem.spi.CollectiveCalls;

/**
 * The collectives of the native library behind a backend, where it has some, on symmetric tensors. Got from
 * {@link SymmetricMemory#nativeCollectives()}; lives as long as that.
 *
 * <p>Every method is collective: all ranks call it with the same arguments but the memory, and in the same order if there are several.
 * It is done in the order of the stream on each rank: what was put on the stream before has happened, and what is put on it later
 * sees the result. It returns at once, but for the first call, within which the library may connect the ranks: that blocks until all
 * have come, or the group's timeout has passed. Ranks that disagree on size or root, or come in another order, are not noticed here: the result
 * is then undefined. If a rank does not come within the group's timeout, the stream of every rank that waits fails, which
 * {@link Stream#synchronize} reports, and no collective can be made any more; tensors that had their rendezvous can still be used.
 * Calls of several threads take turns, since the library allows one thread in a communicator; but their order must be the same on all
 * ranks, so use one thread.
 *
 * <p>Views are dense and of this rank's own buffer; the tensors need no rendezvous for it. Elements are copied as they are, whatever
 * their type.
 */
public final class NativeCollectives {
    private final SymmetricMemory memory;
    private final CollectiveCalls calls;

    NativeCollectives(SymmetricMemory memory, CollectiveCalls calls) {
        this.memory = memory;
        this.calls = calls;
    }

    /**
     * Copies the root's elements over those of every other rank. Collective, in the order of the stream.
     *
     * @param target of the same size on all ranks; read on the root, written on the others
     * @param root   the rank whose elements all get; the same on all ranks
     * @param stream runs it
     * @throws IndexOutOfBoundsException if there is no such rank
     * @throws IllegalArgumentException  if the view has gaps, or is not of this rank's own buffer
     * @throws IllegalStateException     if the tensor, the stream or the symmetric memory is closed
     * @throws SymmetricMemoryException  if the library refuses it, with its call and code, or an earlier collective has failed
     */
    public void broadcast(TensorView target, int root, Stream stream) {
        memory.ensureOpen();
        if (root < 0 || root >= memory.group().worldSize()) {
            throw new IndexOutOfBoundsException("root " + root + " is not in [0, " + memory.group().worldSize() + ") of " + memory);
        }
        requireOwnAndDense(target);
        calls.broadcast(target.memory(), target.offsetBytes(), target.sizeBytes(), root, target.useOn(stream));
    }

    /**
     * Copies every rank's elements to every rank, in the order of the ranks. Collective, in the order of the stream.
     *
     * @param source of the same size on all ranks
     * @param target has as many elements as all ranks' sources together, and their type; does not overlap the source, unless the source
     *               is this rank's part of it
     * @param stream runs it
     * @throws IllegalArgumentException if a view has gaps or is not of this rank's own buffer, or their sizes or types do not fit
     * @throws IllegalStateException    if a tensor, the stream or the symmetric memory is closed
     * @throws SymmetricMemoryException if the library refuses it, with its call and code, or an earlier collective has failed
     */
    public void allGather(TensorView source, TensorView target, Stream stream) {
        memory.ensureOpen();
        requireOwnAndDense(source);
        requireOwnAndDense(target);
        int worldSize = memory.group().worldSize();
        if (source.dataType() != target.dataType() || target.shape().elements() / worldSize != source.shape().elements()
                || target.shape().elements() % worldSize != 0) {
            throw new IllegalArgumentException("cannot gather " + source + " of " + worldSize + " ranks into " + target
                    + ": it takes the same type, and " + worldSize + " times as many elements");
        }
        source.useOn(stream);
        calls.allGather(target.memory(), target.offsetBytes(), source.memory(), source.offsetBytes(), source.sizeBytes(),
                target.useOn(stream));
    }

    private static void requireOwnAndDense(TensorView view) {
        view.requireDense();
        if (!view.isOwn()) {
            throw new IllegalArgumentException("needs a view of this rank's own buffer, not " + view + " of a peer or of all ranks");
        }
    }
}
