package org.symmem;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;
import org.symmem.spi.Transfers;

/**
 * A tensor-shaped window on memory: this rank's symmetric buffer, a peer's, or all side by side; or a global tensor. Owns nothing: it
 * ends with its tensor, and every use after that is an {@link IllegalStateException}.
 *
 * <p>Immutable and free to share among threads; the memory behind it is not synchronised, which is what {@link Signals} are for.
 * All methods are local. Methods without a stream block until the data is there.
 *
 * <p>Element {@code [i, j, …]} is at {@code address() + (i * strides[0] + j * strides[1] + …) * dataType.sizeBytes()}.
 */
public final class TensorView {
    private final ViewOwner owner;
    private final Memory memory;
    private final long offsetBytes;
    private final Shape shape;
    private final long[] strides;
    private final DataType dataType;
    private final long sizeBytes;
    private final boolean dense;

    TensorView(ViewOwner owner, Memory memory, long offsetBytes, Shape shape, long[] strides, DataType dataType) {
        this.owner = owner;
        this.memory = memory;
        this.offsetBytes = offsetBytes;
        this.shape = shape;
        this.strides = strides;
        this.dataType = dataType;
        this.sizeBytes = shape.elements() * dataType.sizeBytes();
        this.dense = Arrays.equals(strides, shape.denseStrides());
    }

    /** {@return the extents, outermost first} */
    public Shape shape() {
        return shape;
    }

    /** {@return a copy of the strides, in elements, outermost first} */
    public long[] strides() {
        return strides.clone();
    }

    /** {@return the type of the elements} */
    public DataType dataType() {
        return dataType;
    }

    /** {@return the bytes that the elements take, without gaps} */
    public long sizeBytes() {
        return sizeBytes;
    }

    /**
     * Whether any byte from this view's first element to its last is one of the other's. Two mappings of one memory count as
     * apart, except a rank's own.
     *
     * @param other of any tensor
     * @return whether they overlap, as far as this process can tell
     */
    public boolean overlaps(TensorView other) {
        return memory == other.memory ? overlaps(offsetBytes, other.offsetBytes, other)
                : memory.address() != 0 && other.memory.address() != 0
                        && overlaps(memory.address() + offsetBytes, other.memory.address() + other.offsetBytes, other);
    }

    private boolean overlaps(long start, long otherStart, TensorView other) {
        return start < otherStart + other.spanBytes() && otherStart < start + spanBytes();
    }

    /** {@return whether this view has the same elements at the same places as the other} */
    public boolean isSameAs(TensorView other) {
        return dataType == other.dataType && shape.equals(other.shape) && Arrays.equals(strides, other.strides)
                && memory.address() + offsetBytes == other.memory.address() + other.offsetBytes && overlaps(other);
    }

    /** {@return whether the elements lie without gaps, in order} */
    public boolean isDense() {
        return dense;
    }

    /**
     * {@return the plain address of the first element, in this process or on its device}
     *
     * @throws UnsupportedCapabilityException if no plain address reaches this rank's memory
     */
    public long address() {
        owner.ensureOpen();
        if (memory.address() == 0) {
            throw owner.unsupported(Capability.PEER_ADDRESS, "the memory is not reachable by loads and stores; put and get work");
        }
        return memory.address() + offsetBytes;
    }

    /** {@return whether the CPU of this process can load and store the memory, so that {@link #segment()} works} */
    public boolean isHostAccessible() {
        owner.ensureOpen();
        return memory.segment().isPresent();
    }

    /**
     * {@return the memory from the first element to the last, gaps included, for loads and stores of the CPU} It is in the
     * byte order of the machine, may be larger than 2 GiB, and its use after the tensor is closed throws.
     *
     * @throws UnsupportedCapabilityException if the CPU cannot reach the memory
     */
    public MemorySegment segment() {
        owner.ensureOpen();
        owner.require(Capability.HOST_ACCESS);
        return memory.segment().orElseThrow().asSlice(offsetBytes, spanBytes());
    }

    /**
     * @param index a position along the outermost dimension
     * @return the view of that slice, with one dimension less
     * @throws IndexOutOfBoundsException if there is no such position
     */
    public TensorView select(long index) {
        if (shape.rank() == 0) {
            throw new IndexOutOfBoundsException("a scalar has no dimension to select from: " + this);
        }
        Objects.checkIndex(index, shape.extent(0));
        return new TensorView(owner, memory, offsetBytes + index * strides[0] * dataType.sizeBytes(), shape.inner(),
                Arrays.copyOfRange(strides, 1, strides.length), dataType);
    }

    /**
     * @param from  the first position along the outermost dimension
     * @param count how many
     * @return the view of these, with as many dimensions
     * @throws IndexOutOfBoundsException if they are not all there
     */
    public TensorView slice(long from, long count) {
        if (shape.rank() == 0) {
            throw new IndexOutOfBoundsException("a scalar has no dimension to slice: " + this);
        }
        Objects.checkFromIndexSize(from, count, shape.extent(0));
        long[] extents = shape.extents();
        extents[0] = count;
        return new TensorView(owner, memory, offsetBytes + from * strides[0] * dataType.sizeBytes(), Shape.of(extents), strides, dataType);
    }

    /**
     * @param extents a shape with as many elements
     * @return the same elements in that shape
     * @throws IllegalArgumentException if the numbers of elements differ, or this view has gaps
     */
    public TensorView reshape(Shape extents) {
        requireDense();
        if (extents.elements() != shape.elements()) {
            throw new IllegalArgumentException(this + " has " + shape.elements() + " elements, " + extents + " has " + extents.elements());
        }
        return new TensorView(owner, memory, offsetBytes, extents, extents.denseStrides(), dataType);
    }

    /**
     * Reads one element: by the CPU where it reaches the memory, else by a copy, which blocks and is slow for many elements.
     *
     * @param index the position, outermost first
     * @return its value, rounded for 64-bit integers beyond 2<sup>53</sup>
     */
    public double get(long... index) {
        long at = elementOffset(index);
        MemorySegment element = reachable(at);
        if (!isHostAccessible()) {
            owner.blocking().copy(Memory.of(element), 0, memory, offsetBytes + at, dataType.sizeBytes());
        }
        return dataType.fromBits(switch (dataType.sizeBytes()) {
            case 1 -> element.get(ValueLayout.JAVA_BYTE, 0);
            case 2 -> element.get(ValueLayout.JAVA_SHORT_UNALIGNED, 0);
            case 4 -> element.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
            default -> element.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        });
    }

    /**
     * Writes one element: by the CPU where it reaches the memory, else by a copy, which blocks and is slow for many elements.
     *
     * @param value as {@link DataType#toBits} takes it
     * @param index the position, outermost first
     */
    public void set(double value, long... index) {
        long at = elementOffset(index);
        long bits = dataType.toBits(value);
        MemorySegment element = reachable(at);
        switch (dataType.sizeBytes()) {
            case 1 -> element.set(ValueLayout.JAVA_BYTE, 0, (byte) bits);
            case 2 -> element.set(ValueLayout.JAVA_SHORT_UNALIGNED, 0, (short) bits);
            case 4 -> element.set(ValueLayout.JAVA_INT_UNALIGNED, 0, (int) bits);
            default -> element.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, bits);
        }
        if (!isHostAccessible()) {
            owner.blocking().copy(memory, offsetBytes + at, Memory.of(element), 0, dataType.sizeBytes());
        }
    }

    /** {@return one element's memory where the CPU reaches it, else memory of its size that does not move} */
    private MemorySegment reachable(long at) {
        return isHostAccessible() ? memory.segment().orElseThrow().asSlice(offsetBytes + at, dataType.sizeBytes())
                : Arena.ofAuto().allocate(dataType.sizeBytes(), dataType.sizeBytes());
    }

    /** Sets every element to a value, as {@link DataType#toBits} takes it. Blocks until done. */
    public void fill(double value) {
        fill(value, owner.blocking());
    }

    /** Sets every element to a value, in the order of the stream. */
    public void fill(double value, Stream stream) {
        fill(value, owner.useOn(stream));
    }

    private void fill(double value, Transfers transfers) {
        owner.ensureOpen();
        long bits = dataType.toBits(value);
        denseRuns((at, unused, runBytes) -> transfers.fill(memory, at, runBytes / dataType.sizeBytes(), bits, dataType.sizeBytes()));
    }

    /**
     * Copies all elements of another view of the same shape and type. Blocks until done.
     *
     * @param source of this or another tensor of the same {@link SymmetricMemory}; does not overlap this view
     * @throws IllegalArgumentException if shape or type differ
     */
    public void copyFrom(TensorView source) {
        copyFrom(source, owner.blocking());
    }

    /** Copies all elements of another view, in the order of the stream. See {@link #copyFrom(TensorView)}. */
    public void copyFrom(TensorView source, Stream stream) {
        source.owner.useOn(stream);
        copyFrom(source, owner.useOn(stream));
    }

    private void copyFrom(TensorView source, Transfers transfers) {
        owner.ensureOpen();
        source.owner.ensureOpen();
        requireSameElements(source);
        if (dense && source.dense) {
            transfers.copy(memory, offsetBytes, source.memory, source.offsetBytes, sizeBytes);
        } else {
            runs(this, source, (to, from, runBytes) -> transfers.copy(memory, to, source.memory, from, runBytes));
        }
    }

    /**
     * Copies all elements to several other views, in the order of the stream and in any order among the views, which do not overlap:
     * what a rank that sends to all peers needs. A backend may make one native call of it.
     *
     * @param targets all of this view's shape and data type
     * @param stream  runs it
     * @throws IllegalArgumentException if shape or data type of one differ; nothing is copied then
     */
    public void copyTo(TensorView[] targets, Stream stream) {
        for (TensorView target : targets) {
            target.requireSameElements(this);
        }
        StreamQueue queue = owner.useOn(stream);
        if (!dense || !Arrays.stream(targets).allMatch(target -> target.dense)) {
            for (TensorView target : targets) {
                target.copyFrom(this, stream);
            }
            return;
        }
        Memory[] memories = new Memory[targets.length];
        long[] offsets = new long[targets.length];
        for (int i = 0; i < targets.length; i++) {
            targets[i].owner.useOn(stream);
            memories[i] = targets[i].memory;
            offsets[i] = targets[i].offsetBytes;
        }
        queue.copyToAll(memories, offsets, memory, offsetBytes, sizeBytes);
    }

    /**
     * Copies from memory of this process that is not symmetric. Blocks until done.
     *
     * @param source the elements in order without gaps, {@link #sizeBytes()} long
     * @throws IllegalArgumentException if it has another length
     */
    public void copyFrom(MemorySegment source) {
        copyFrom(source, owner.blocking());
    }

    /** Copies from a segment, which must stay as it is until the stream is done. See {@link #copyFrom(MemorySegment)}. */
    public void copyFrom(MemorySegment source, Stream stream) {
        copyFrom(source, owner.useOn(stream));
    }

    private void copyFrom(MemorySegment source, Transfers transfers) {
        owner.ensureOpen();
        requireLength(source);
        Memory plain = Memory.of(source);
        denseRuns((at, plainAt, runBytes) -> transfers.copy(memory, at, plain, plainAt, runBytes));
    }

    /**
     * Copies to memory of this process that is not symmetric. Blocks until done.
     *
     * @param target takes the elements in order without gaps, {@link #sizeBytes()} long
     * @throws IllegalArgumentException if it has another length
     */
    public void copyTo(MemorySegment target) {
        copyTo(target, owner.blocking());
    }

    /** Copies to a segment, which must not be used until the stream is done. See {@link #copyTo(MemorySegment)}. */
    public void copyTo(MemorySegment target, Stream stream) {
        copyTo(target, owner.useOn(stream));
    }

    private void copyTo(MemorySegment target, Transfers transfers) {
        owner.ensureOpen();
        requireLength(target);
        Memory plain = Memory.of(target);
        denseRuns((at, plainAt, runBytes) -> transfers.copy(plain, plainAt, memory, at, runBytes));
    }

    Memory memory() {
        return memory;
    }

    long offsetBytes() {
        return offsetBytes;
    }

    StreamQueue useOn(Stream stream) {
        return owner.useOn(stream);
    }

    /** {@return whether this is a view of the rank's own buffer, and not of a peer's or of all} */
    boolean isOwn() {
        return owner.own().memory == memory;
    }

    void requireDense() {
        if (!isDense()) {
            throw new IllegalArgumentException("needs a view without gaps, not " + this);
        }
    }

    private void requireSameElements(TensorView source) {
        if (source.dataType != dataType || !source.shape.equals(shape)) {
            throw new IllegalArgumentException("cannot copy " + source + " to " + this + ": shape and data type must be equal");
        }
    }

    private void requireLength(MemorySegment segment) {
        if (segment.byteSize() != sizeBytes()) {
            throw new IllegalArgumentException("the segment has " + segment.byteSize() + " bytes, " + this + " needs " + sizeBytes());
        }
    }

    private long spanBytes() {
        long last = 0;
        for (int d = 0; d < strides.length; d++) {
            last += (shape.extent(d) - 1) * strides[d];
        }
        return (last + 1) * dataType.sizeBytes();
    }

    private long elementOffset(long... index) {
        if (index.length != shape.rank()) {
            throw new IndexOutOfBoundsException(index.length + " indices for " + this);
        }
        long element = 0;
        for (int d = 0; d < index.length; d++) {
            element += Objects.checkIndex(index[d], shape.extent(d)) * strides[d];
        }
        return element * dataType.sizeBytes();
    }

    @FunctionalInterface
    private interface Run {
        void at(long thisOffsetBytes, long otherOffsetBytes, long sizeBytes);
    }

    private void denseRuns(Run run) {
        if (dense) {
            run.at(offsetBytes, 0, sizeBytes);
            return;
        }
        runs(this, new TensorView(owner, memory, 0, shape, shape.denseStrides(), dataType), run);
    }

    /** Walks two views of one shape in the largest pieces that are dense in both. */
    private static void runs(TensorView one, TensorView other, Run run) {
        long[] dense = one.shape.denseStrides();
        int outer = dense.length;
        while (outer > 0 && (one.shape.extent(outer - 1) == 1
                || one.strides[outer - 1] == dense[outer - 1] && other.strides[outer - 1] == dense[outer - 1])) {
            outer--;
        }
        long runElements = outer == 0 ? one.shape.elements() : outer == dense.length ? 1 : dense[outer] * one.shape.extent(outer);
        int elementSize = one.dataType.sizeBytes();
        long[] index = new long[outer];
        while (true) {
            long at = 0;
            long otherAt = 0;
            for (int d = 0; d < outer; d++) {
                at += index[d] * one.strides[d];
                otherAt += index[d] * other.strides[d];
            }
            run.at(one.offsetBytes + at * elementSize, other.offsetBytes + otherAt * elementSize, runElements * elementSize);
            int d = outer - 1;
            while (d >= 0 && ++index[d] == one.shape.extent(d)) {
                index[d--] = 0;
            }
            if (d < 0) {
                return;
            }
        }
    }

    /** {@return for instance {@code TensorView[float32 2x262144, strides [262144, 1]]}} */
    @Override
    public String toString() {
        return "TensorView[" + dataType + " " + shape + (isDense() ? "" : ", strides " + Arrays.toString(strides)) + "]";
    }
}
