package org.symmem;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The extents of a tensor, outermost first. Immutable; equal by extents.
 *
 * <p>A shape without extents is a scalar of one element. No extent may be zero or negative, and their product fits a
 * {@code long}.
 */
public final class Shape {
    private final long[] extents;
    private final long elements;

    private Shape(long[] extents) {
        long product = 1;
        for (long extent : extents) {
            if (extent <= 0) {
                throw new IllegalArgumentException("every extent must be positive, not " + extent + " in " + Arrays.toString(extents));
            }
            try {
                product = Math.multiplyExact(product, extent);
            } catch (ArithmeticException e) {
                throw new IllegalArgumentException("too many elements for a long: " + Arrays.toString(extents), e);
            }
        }
        this.extents = extents;
        this.elements = product;
    }

    /**
     * @param extents elements along each dimension, outermost first
     * @return the shape
     * @throws IllegalArgumentException if an extent is not positive or the number of elements does not fit a {@code long}
     */
    public static Shape of(long... extents) {
        return new Shape(extents.clone());
    }

    /** {@return the number of dimensions} */
    public int rank() {
        return extents.length;
    }

    /**
     * @param dimension from 0, outermost first
     * @return the elements along it
     */
    public long extent(int dimension) {
        return extents[dimension];
    }

    /** {@return a copy of the extents, outermost first} */
    public long[] extents() {
        return extents.clone();
    }

    /** {@return the number of elements} */
    public long elements() {
        return elements;
    }

    /** {@return the strides, in elements, of this shape laid out without gaps, outermost first} */
    public long[] denseStrides() {
        long[] strides = new long[extents.length];
        long stride = 1;
        for (int d = extents.length - 1; d >= 0; d--) {
            strides[d] = stride;
            stride *= extents[d];
        }
        return strides;
    }

    /**
     * {@return how many elements lie from the first to the last, gaps included, when this shape is laid out with strides}
     *
     * @param strides in elements, one a dimension, outermost first
     * @throws IllegalArgumentException if strides are not one a dimension or not positive, or two elements would share a place
     */
    public long spannedBy(long[] strides) {
        if (strides.length != extents.length) {
            throw new IllegalArgumentException("a stride for each dimension of " + this + " is needed, not " + Arrays.toString(strides));
        }
        Integer[] innermostFirst = new Integer[strides.length];
        Arrays.setAll(innermostFirst, d -> d);
        Arrays.sort(innermostFirst, Comparator.comparingLong(d -> strides[d]));
        long span = 1;
        for (int d : innermostFirst) {
            if (extents[d] > 1 && strides[d] < span || strides[d] < 1) {
                throw new IllegalArgumentException(
                        "strides " + Arrays.toString(strides) + " of " + this + " are not positive, or let elements share a place");
            }
            try {
                span = Math.addExact(span, Math.multiplyExact(extents[d] - 1, strides[d]));
            } catch (ArithmeticException e) {
                throw new IllegalArgumentException("strides " + Arrays.toString(strides) + " of " + this + " span more than a long counts",
                        e);
            }
        }
        return span;
    }

    /**
     * @param extent elements along the new outermost dimension
     * @return this shape with one more dimension in front
     */
    public Shape prepend(long extent) {
        return new Shape(LongStream.concat(LongStream.of(extent), Arrays.stream(extents)).toArray());
    }

    /** {@return this shape without its outermost dimension} */
    Shape inner() {
        return new Shape(Arrays.copyOfRange(extents, 1, extents.length));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shape shape && Arrays.equals(extents, shape.extents);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(extents);
    }

    /** {@return the extents joined by an x, for instance {@code 2x262144}; {@code scalar} without extents} */
    @Override
    public String toString() {
        return extents.length == 0 ? "scalar" : Arrays.stream(extents).mapToObj(Long::toString).collect(Collectors.joining("x"));
    }
}
