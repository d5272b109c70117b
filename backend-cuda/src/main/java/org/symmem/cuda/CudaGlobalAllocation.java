package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.symmem.spi.Closers;
import org.symmem.spi.GlobalAllocation;

/** Memory of {@code cuMemAlloc}: the driver packs small ones together, and they have no handle to share. */
record CudaGlobalAllocation(CudaEngine engine, CudaMemory memory) implements GlobalAllocation {
    static CudaGlobalAllocation allocate(CudaEngine engine, long sizeBytes) {
        long address;
        try (Arena arena = Arena.ofConfined(); CudaDevice.Current current = engine.device().makeCurrent()) {
            MemorySegment result = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memAlloc(result, sizeBytes, "allocating " + sizeBytes + " bytes of ordinary memory on " + engine.device() + ": "
                    + engine.device().memory());
            address = result.get(ValueLayout.JAVA_LONG, 0);
        }
        Closers begun = new Closers();
        try {
            CudaGlobalAllocation allocation = begun.add(new CudaGlobalAllocation(engine, new CudaMemory(address, sizeBytes)));
            engine.clear(allocation.memory());
            return allocation;
        } catch (Throwable e) {
            begun.closeBecauseOf(e);
            throw e;
        }
    }

    /** The driver waits for the work of the whole context here, so nothing may be parked on a stream that only this thread would end. */
    @Override
    public void close() {
        try (Closers closers = new Closers()) {
            closers.add(this::free);
            closers.add(engine::quiesce);
        }
    }

    private void free() {
        try (CudaDevice.Current current = engine.device().makeCurrent()) {
            CudaDriver.memFree(memory.address(), "freeing " + memory.sizeBytes() + " bytes");
        }
    }
}
