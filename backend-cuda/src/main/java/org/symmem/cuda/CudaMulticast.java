package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.Collectors;
import org.symmem.CollectiveFailedException;
import org.symmem.Support;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;

/**
 * One address whose stores reach every rank's buffer, or why there is none. All ranks have it for a tensor, or none: each step is
 * agreed, and what was begun is undone on all ranks when one cannot go on. The tensor works either way.
 *
 * @param support the same answer on all ranks
 * @param address where the own process maps the multicast object; 0 where there is none
 * @param closers ends it; must run before the memory that is bound goes
 */
record CudaMulticast(Support support, long address, Closers closers) implements AutoCloseable {
    static CudaMulticast none(Support reason) {
        return new CudaMulticast(reason, 0, new Closers());
    }

    /** Sets it up for whole memories of the same size on all ranks. Collective; only where the ranks agreed to use multicast. */
    static CudaMulticast over(CudaBackend backend, Agreement agreement, PhysicalMemory memory) {
        if (memory.sizeBytes() % backend.granularityBytes() != 0) {
            return none(new Support.No("memory of " + memory.sizeBytes() + " bytes is no multiple of the granularity of multicast, "
                    + backend.granularityBytes()));
        }
        Closers made = new Closers();
        try {
            long object = share(backend, agreement, memory.sizeBytes(), made);
            agreement.check("binding the buffer to multicast", () -> bind(backend.cudaDevice(), object, memory, made));
            long[] address = new long[1];
            agreement.check("mapping multicast", () -> address[0] = map(backend.cudaDevice(), object, memory.sizeBytes(), made));
            return new CudaMulticast(backend.multicast(), address[0], made);
        } catch (CollectiveFailedException e) {
            end(backend.cudaDevice(), made, e);
            return none(new Support.No("multicast could not be set up: " + e.failures()
                    .stream()
                    .map(failure -> "rank " + failure.rank() + ", " + failure.step() + ": " + failure.message())
                    .collect(Collectors.joining("; "))));
        } catch (Throwable e) {
            end(backend.cudaDevice(), made, e);
            throw e;
        }
    }

    private static void end(CudaDevice device, Closers made, Throwable because) {
        try (CudaDevice.Current current = device.makeCurrent()) {
            made.closeBecauseOf(because);
        }
    }

    /** Rank 0 makes the object. It imports it too, so that all ranks hold it alike and each adds its device. */
    private static long share(CudaBackend backend, Agreement agreement, long sizeBytes, Closers made) {
        CudaDevice device = backend.cudaDevice();
        long[] object = new long[1];
        PhysicalMemory[] created = new PhysicalMemory[1];
        try (Closers begun = new Closers()) {
            backend.handles().exchange(agreement, "sharing the multicast object", () -> {
                if (backend.group().rank() != 0) {
                    return List.of();
                }
                created[0] = begun.add(create(backend.group().worldSize(), sizeBytes, backend.handles().handleType()));
                return List.of(created[0]);
            }, new byte[0], received -> {
                String purpose = "importing the multicast object";
                object[0] = made.add(created[0] == null ? received.getFirst().memory(0, sizeBytes, purpose)
                        : backend.handles().again(created[0], purpose)).handle();
                CudaDriver.multicastAddDevice(object[0], device.device(), "adding " + device + " to the multicast object");
            });
        }
        return object[0];
    }

    private static PhysicalMemory create(int devices, long sizeBytes, int handleType) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.multicastCreate(handle, CudaStructures.multicastProperties(arena, devices, sizeBytes, handleType),
                    "making a multicast object of " + sizeBytes + " bytes for " + devices + " devices");
            return new PhysicalMemory(handle.get(ValueLayout.JAVA_LONG, 0), sizeBytes);
        }
    }

    private static void bind(CudaDevice device, long object, PhysicalMemory memory, Closers made) {
        try (CudaDevice.Current current = device.makeCurrent()) {
            CudaDriver.multicastBindMem(object, 0, memory.handle(), 0, memory.sizeBytes(), 0, "binding the buffer to multicast");
        }
        made.add(() -> CudaDriver.multicastUnbind(object, device.device(), 0, memory.sizeBytes(), "ending multicast"));
    }

    private static long map(CudaDevice device, long object, long sizeBytes, Closers made) {
        try (CudaDevice.Current current = device.makeCurrent()) {
            AddressRange range = made.add(AddressRange.reserve(sizeBytes, "reserving addresses for multicast"));
            range.map(0, new PhysicalMemory(object, sizeBytes), sizeBytes, device, "mapping multicast");
            return range.address();
        }
    }

    @Override
    public void close() {
        closers.close();
    }
}
