package org.symmem;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.symmem.spi.Closers;
import org.symmem.spi.GlobalAllocation;

/**
 * A tensor in ordinary memory of this rank's device, which no other rank reaches: what is computed with, and copied from and to
 * symmetric memory.
 *
 * <p>Made by {@link SymmetricMemory#allocateGlobal}; the caller closes it. Its view ends with it: use after that is an
 * {@link IllegalStateException} that names the tensor. Everything here is local; the view may be used by any thread.
 */
public final class GlobalTensor extends ViewOwner implements AutoCloseable {
    private final Resources resources;
    private final TensorView view;

    /** What must be closed, apart from the tensor, so that a forgotten tensor can be noticed. */
    static final class Resources {
        final String name;
        final @Nullable Throwable allocationSite;
        private final GlobalAllocation allocation;
        private final Set<Stream> streams = ConcurrentHashMap.newKeySet();
        private volatile boolean closed;

        Resources(String name, GlobalAllocation allocation, @Nullable Throwable allocationSite) {
            this.name = name;
            this.allocation = allocation;
            this.allocationSite = allocationSite;
        }

        boolean closed() {
            return closed;
        }

        void close(java.time.Duration patience) {
            closed = true;
            try (Closers closers = new Closers()) {
                closers.add(allocation);
                streams.forEach(stream -> closers.add(() -> stream.finish(patience)));
            }
        }
    }

    GlobalTensor(SymmetricMemory memory, Resources resources, Shape shape, long[] strides, DataType dataType) {
        super(memory);
        this.resources = resources;
        this.view = new TensorView(this, Answer.of(resources.allocation.memory(), memory.backend(), "memory"), 0, shape, strides, dataType);
    }

    /** {@return the whole tensor; usable at once} Local. */
    public TensorView view() {
        ensureOpen();
        return view;
    }

    /** Waits for the streams that use the tensor, and frees its memory. Local; closing twice is fine. */
    @Override
    public void close() {
        if (!resources.closed()) {
            memory.forget(resources);
            resources.close(memory.group().timeout());
        }
    }

    @Override
    TensorView own() {
        return view;
    }

    @Override
    boolean closed() {
        return resources.closed();
    }

    @Override
    Set<Stream> streams() {
        return resources.streams;
    }

    /** {@return for instance {@code GlobalTensor[rank 1/4, float32 2x262144, host]}} */
    @Override
    public String toString() {
        return resources.name;
    }
}
