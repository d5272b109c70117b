package org.symmem.program;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.symmem.Shape;

/**
 * The extents of a tensor of a program, outermost first, of which some may be the number of ranks.
 *
 * @param extents positive, or {@link #WORLD}
 */
public record ProgramShape(List<Long> extents) {
    /** Stands for the number of ranks that the program is run on. */
    public static final long WORLD = -1;

    /** Checks the extents. */
    public ProgramShape {
        extents = List.copyOf(extents);
        for (long extent : extents) {
            if (extent < 1 && extent != WORLD) {
                throw new IllegalArgumentException("every extent is positive or WORLD, not " + extent + " in " + extents);
            }
        }
    }

    /** {@return the shape with these extents, outermost first} */
    public static ProgramShape of(long... extents) {
        return new ProgramShape(Arrays.stream(extents).boxed().toList());
    }

    /** {@return this shape with one more dimension in front: the ranks'} */
    public ProgramShape ofAllRanks() {
        return new ProgramShape(LongStream.concat(LongStream.of(WORLD), extents.stream().mapToLong(Long::longValue)).boxed().toList());
    }

    /**
     * @param worldSize the number of ranks
     * @return the shape on so many
     */
    public Shape on(int worldSize) {
        return Shape.of(extents.stream().mapToLong(extent -> extent == WORLD ? worldSize : extent).toArray());
    }

    /** {@return as it stands in a program, for instance {@code [world, 4]}} */
    @Override
    public String toString() {
        return extents.stream().map(extent -> extent == WORLD ? "world" : extent.toString()).collect(Collectors.joining(", ", "[", "]"));
    }
}
