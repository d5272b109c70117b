package org.symmem.program;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.symmem.Shape;

/** What is known of a tensor while a program is checked. */
final class CheckedTensor {
    final String name;
    final TensorType type;
    final Shape shape;
    /** The tensor whose buffers it shows, if it is a view. */
    final @Nullable CheckedTensor shown;
    final Statement made;
    /** The block of statements that it was made in. */
    final List<Statement> block;
    /** Where it was deallocated. */
    @Nullable
    Statement freed;
    /** What fills it and was not waited for. */
    @Nullable
    Post post;
    /** What reads it and was not waited for. */
    @Nullable
    Statement reader;
    /** Whether ranks may have changed it since all have met. */
    boolean changed;
    /** Whether peers may look at it through a view since all have met. */
    boolean seen;

    /** A communication that was begun. */
    record Post(Statement statement, CheckedTensor source, List<Statement> block) {}

    CheckedTensor(String name, TensorType type, Shape shape, @Nullable CheckedTensor shown, Statement made, List<Statement> block) {
        this.name = name;
        this.type = type;
        this.shape = shape;
        this.shown = shown;
        this.made = made;
        this.block = block;
    }

    boolean isAllocated() {
        return made.step() instanceof Step.Allocate;
    }

    /** {@return the tensor that has the memory} */
    CheckedTensor owner() {
        return shown == null ? this : Objects.requireNonNull(shown).owner();
    }

    boolean hasGaps() {
        if (type.strides().isEmpty()) {
            return shown != null;
        }
        long[] dense = shape.denseStrides();
        for (int d = 0; d < dense.length; d++) {
            if (dense[d] != type.strides().get(d)) {
                return true;
            }
        }
        return false;
    }

    /** {@return for instance {@code x (float32 2x4)}} */
    @Override
    public String toString() {
        return name + " (" + type.dataType() + " " + shape + ")";
    }
}
