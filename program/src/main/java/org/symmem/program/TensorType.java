package org.symmem.program;

import java.util.List;
import org.symmem.DataType;

/**
 * What a tensor of a program is.
 *
 * @param memory   where it lies
 * @param dataType of its elements
 * @param shape    on each rank
 * @param strides  in elements, one a dimension; empty for a tensor without gaps
 */
public record TensorType(MemoryType memory, DataType dataType, ProgramShape shape, List<Long> strides) {
    /** Copies the strides. */
    public TensorType {
        strides = List.copyOf(strides);
    }

    /** {@return the type of a tensor without gaps in symmetric memory} */
    public static TensorType symmetric(DataType dataType, long... extents) {
        return new TensorType(MemoryType.SYMMETRIC, dataType, ProgramShape.of(extents), List.of());
    }

    /** {@return the type of a tensor without gaps in ordinary memory} */
    public static TensorType global(DataType dataType, long... extents) {
        return new TensorType(MemoryType.GLOBAL, dataType, ProgramShape.of(extents), List.of());
    }

    /** {@return this type with strides, in elements, outermost first} */
    public TensorType withStrides(long... values) {
        return new TensorType(memory, dataType, shape, java.util.Arrays.stream(values).boxed().toList());
    }

    /** {@return this type in other memory, without gaps} */
    TensorType in(MemoryType other) {
        return new TensorType(other, dataType, shape, List.of());
    }

    /** {@return as it stands in a program, for instance {@code global float32[2, 4] strides [8, 1]}} */
    @Override
    public String toString() {
        return memory + " " + dataType + shape + (strides.isEmpty() ? "" : " strides " + strides);
    }
}
