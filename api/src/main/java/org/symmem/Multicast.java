package org.symmem;

import org.symmem.spi.Memory;

/**
 * One address whose stores reach the buffers of all ranks. There is no way to load through it, and no plain store of the CPU:
 * the hardware defines neither.
 *
 * <p>Got from {@link SymmetricTensor#multicast()}; lives as long as the tensor. Local, used by one thread at a time.
 */
public final class Multicast {
    private final SymmetricTensor tensor;
    private final Memory memory;

    Multicast(SymmetricTensor tensor, Memory memory) {
        this.tensor = tensor;
        this.memory = memory;
    }

    /** {@return the multicast address on the device} */
    public long address() {
        tensor.ensureOpen();
        return memory.address();
    }

    /**
     * Copies one dense block to the same place of every rank's buffer, in the order of a stream.
     *
     * @param source            dense, on this rank's device
     * @param targetOffsetBytes where in each rank's buffer
     * @param stream            runs it
     * @throws IllegalArgumentException if the source has gaps
     * @throws IndexOutOfBoundsException if the block does not fit the buffers
     */
    public void copyFrom(TensorView source, long targetOffsetBytes, Stream stream) {
        tensor.ensureOpen();
        source.requireDense();
        java.util.Objects.checkFromIndexSize(targetOffsetBytes, source.sizeBytes(), memory.sizeBytes());
        source.useOn(stream);
        tensor.useOn(stream).copy(memory, targetOffsetBytes, source.memory(), source.offsetBytes(), source.sizeBytes());
    }
}
