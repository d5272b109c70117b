package org.symmem.program;

import java.util.List;
import java.util.Optional;
import org.symmem.DataType;
import org.symmem.GlobalTensor;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/** Memory for tensors of one kind, kept from run to run. */
final class Buffer implements AutoCloseable {
    private final TensorView view;
    private final Optional<SymmetricTensor> symmetric;
    private final AutoCloseable memory;

    /** Tensors of which kind can have the memory. */
    record Kind(MemoryType memory, DataType dataType, Shape shape, List<Long> strides) {
        static Kind of(TensorType type, int worldSize) {
            return new Kind(type.memory(), type.dataType(), type.shape().on(worldSize), type.strides());
        }
    }

    private Buffer(SymmetricTensor tensor) {
        this.view = tensor.local();
        this.symmetric = Optional.of(tensor);
        this.memory = tensor;
    }

    private Buffer(GlobalTensor tensor) {
        this.view = tensor.view();
        this.symmetric = Optional.empty();
        this.memory = tensor;
    }

    static Buffer allocate(SymmetricMemory memory, Kind kind) {
        if (kind.memory() == MemoryType.SYMMETRIC) {
            return new Buffer(memory.allocate(kind.shape(), kind.dataType()));
        }
        long[] strides = kind.strides().isEmpty() ? kind.shape().denseStrides()
                : kind.strides().stream().mapToLong(Long::longValue).toArray();
        return new Buffer(memory.allocateGlobal(kind.shape(), strides, kind.dataType()));
    }

    /** {@return this rank's part} */
    TensorView view() {
        return view;
    }

    /** {@return the tensor that peers reach, if they do} */
    Optional<SymmetricTensor> symmetric() {
        return symmetric;
    }

    @Override
    public void close() throws Exception {
        memory.close();
    }
}
