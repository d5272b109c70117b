package org.symmem.tck.mutant;

import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;

/** A backend whose copies on streams are wrong. */
@FunctionalInterface
interface ChangedCopies extends Change {
    void copyOnStream(StreamQueue right, Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes);

    @Override
    default StreamQueue stream(StreamQueue right) {
        return new LazyStream(right) {
            @Override
            public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
                copyOnStream(right, target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
            }

            @Override
            void release() {
                runAll(fills);
            }
        };
    }

    @Override
    default StreamQueue rightOf(StreamQueue stream) {
        return ((LazyStream) stream).right;
    }
}
