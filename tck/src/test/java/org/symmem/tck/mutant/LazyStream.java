package org.symmem.tck.mutant;

import java.util.ArrayList;
import java.util.List;
import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;

/** A queue that keeps its copies and fills until somebody waits for them; what a wait does with them is the mistake. */
abstract class LazyStream implements StreamQueue {
    final StreamQueue right;
    final List<Runnable> fills = new ArrayList<>();
    final List<Runnable> copies = new ArrayList<>();

    LazyStream(StreamQueue right) {
        this.right = right;
    }

    /** Hands what was kept to the right queue, or does not. */
    abstract void release();

    void runAll(List<Runnable> operations) {
        operations.forEach(Runnable::run);
        operations.clear();
    }

    @Override
    public long handle() {
        return right.handle();
    }

    @Override
    public boolean synchronize(long timeoutNanos) {
        release();
        return right.synchronize(timeoutNanos);
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        copies.add(() -> right.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes));
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        fills.add(() -> right.fill(target, offsetBytes, elements, elementBits, elementSize));
    }

    @Override
    public void close() {
        right.close();
    }
}
