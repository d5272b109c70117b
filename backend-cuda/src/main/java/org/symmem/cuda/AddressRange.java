package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.symmem.spi.Closers;

/** A reserved range of device addresses, and what is mapped into it. */
public final class AddressRange implements AutoCloseable {
    private final long address;
    private final Closers closers = new Closers();

    private AddressRange(long address, long sizeBytes) {
        this.address = address;
        closers.add(() -> CudaDriver.memAddressFree(address, sizeBytes, "freeing " + sizeBytes + " bytes of addresses"));
    }

    /** {@return a range that nothing is mapped into yet} */
    public static AddressRange reserve(long sizeBytes, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memAddressReserve(address, sizeBytes, 0, 0, 0, purpose);
            return new AddressRange(address.get(ValueLayout.JAVA_LONG, 0), sizeBytes);
        }
    }

    /** {@return where it begins} */
    public long address() {
        return address;
    }

    /** Maps the beginning of a memory, for reading and writing by a device, until the range is closed. */
    public void map(long offsetBytes, PhysicalMemory memory, long sizeBytes, CudaDevice device, String purpose) {
        closers.add(mapPart(offsetBytes, memory, sizeBytes, device, purpose));
    }

    /** Maps the beginning of a memory, until what is returned is closed, which must be before the range is. */
    public AutoCloseable mapPart(long offsetBytes, PhysicalMemory memory, long sizeBytes, CudaDevice device, String purpose) {
        long at = address + offsetBytes;
        CudaDriver.memMap(at, sizeBytes, 0, memory.handle(), 0, purpose);
        AutoCloseable unmap = () -> CudaDriver.memUnmap(at, sizeBytes, "unmapping " + sizeBytes + " bytes");
        try (Arena arena = Arena.ofConfined()) {
            CudaDriver.memSetAccess(at, sizeBytes, CudaStructures.accessFor(arena, device.device()), 1, purpose);
            return unmap;
        } catch (RuntimeException e) {
            CudaDriver.memUnmap(at, sizeBytes, "unmapping " + sizeBytes + " bytes that cannot be accessed");
            throw e;
        }
    }

    @Override
    public void close() {
        closers.close();
    }
}
