package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A mark on a stream: whether the stream has come past it. */
public final class CudaEvent implements AutoCloseable {
    private static final int WITHOUT_TIMING = 2;

    private final CudaDevice device;
    private final long handle;

    private CudaEvent(CudaDevice device, long handle) {
        this.device = device;
        this.handle = handle;
    }

    /** {@return a mark behind everything that is on the stream now} */
    public static CudaEvent recordedOn(CudaDevice device, long stream, String purpose) {
        try (Arena arena = Arena.ofConfined(); CudaDevice.Current current = device.makeCurrent()) {
            MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.eventCreate(made, WITHOUT_TIMING, purpose);
            CudaEvent event = new CudaEvent(device, made.get(ValueLayout.JAVA_LONG, 0));
            try {
                CudaDriver.eventRecord(event.handle, stream, purpose);
            } catch (Throwable e) {
                event.close();
                throw e;
            }
            return event;
        }
    }

    /** {@return whether the stream has come past it} */
    public boolean isDone() {
        try (CudaDevice.Current current = device.makeCurrent()) {
            return CudaDriver.eventQuery(handle, "asking whether a stream has come to a mark");
        }
    }

    @Override
    public void close() {
        try (CudaDevice.Current current = device.makeCurrent()) {
            CudaDriver.eventDestroy(handle, "closing an event");
        }
    }
}
