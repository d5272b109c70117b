package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.symmem.linux.Descriptor;

/**
 * One reference to physical memory of a device, created here, imported from a peer, or found behind an address. The memory lives
 * as long as any process refers to it or maps it.
 *
 * @param handle    the driver's
 * @param sizeBytes all of it
 */
public record PhysicalMemory(long handle, long sizeBytes) implements AutoCloseable {
    /** {@return new memory that can be exported as a POSIX descriptor} */
    public static PhysicalMemory create(CudaDevice device, long sizeBytes, String purpose) {
        return create(device, sizeBytes, CudaStructures.POSIX_DESCRIPTOR, purpose);
    }

    static PhysicalMemory create(CudaDevice device, long sizeBytes, int handleType, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memCreate(handle, sizeBytes, CudaStructures.allocationProperties(arena, device.device(), handleType), 0, purpose);
            return new PhysicalMemory(handle.get(ValueLayout.JAVA_LONG, 0), sizeBytes);
        }
    }

    public static PhysicalMemory imported(int descriptor, long sizeBytes, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);
            // The driver takes the descriptor's number itself where it takes a pointer.
            CudaDriver.memImportFromShareableHandle(handle, descriptor, CudaStructures.POSIX_DESCRIPTOR, purpose);
            return new PhysicalMemory(handle.get(ValueLayout.JAVA_LONG, 0), sizeBytes);
        }
    }

    static PhysicalMemory importedFromFabric(byte[] fabricHandle, long sizeBytes, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, fabricHandle);
            CudaDriver.memImportFromShareableHandle(handle, bytes.address(), CudaStructures.FABRIC, purpose);
            return new PhysicalMemory(handle.get(ValueLayout.JAVA_LONG, 0), sizeBytes);
        }
    }

    /** {@return one more reference to the memory that is mapped at an address} */
    public static PhysicalMemory behind(long address, long sizeBytes, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memRetainAllocationHandle(handle, address, purpose);
            return new PhysicalMemory(handle.get(ValueLayout.JAVA_LONG, 0), sizeBytes);
        }
    }

    /** {@return a descriptor by which another process can import it} */
    public Descriptor export(String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment descriptor = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memExportToShareableHandle(descriptor, handle, CudaStructures.POSIX_DESCRIPTOR, 0, purpose);
            return org.symmem.linux.LibC.closeOnExec(new Descriptor(descriptor.get(ValueLayout.JAVA_INT, 0), purpose));
        }
    }

    /** {@return bytes by which another process in the fabric can import it} */
    byte[] exportToFabric(String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(CudaStructures.FABRIC_HANDLE_BYTES);
            CudaDriver.memExportToShareableHandle(bytes, handle, CudaStructures.FABRIC, 0, purpose);
            return bytes.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @Override
    public void close() {
        CudaDriver.memRelease(handle, "releasing memory of " + sizeBytes + " bytes");
    }
}
