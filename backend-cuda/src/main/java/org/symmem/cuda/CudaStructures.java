package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The driver's structures that are passed by address, each zero but for what is named. Confirmed on an H200, driver 580.
 *
 * <pre>
 *   CUmemAllocationProp, 32 bytes     0 type | 4 requested handle types | 8 location type | 12 location id | 16 Win32 data |
 *                                    24 compression u8 | 25 GPUDirect RDMA u8 | 26 usage u16 | 28 reserved
 *   CUmemAccessDesc, 12 bytes         0 location type | 4 location id | 8 flags
 *   CUmulticastObjectProp, 32 bytes   0 devices u32 | 8 size | 16 handle types u64 | 24 flags u64
 *   CUmemLocation, 8 bytes            0 type | 4 id
 *   CUmemcpyAttributes, 24 bytes      0 order of access to the source | 4 source location | 12 target location | 20 flags
 *   CUstreamBatchMemOpParams, 48      0 operation | 8 address | 16 value | 24 flags | 32 alias
 * </pre>
 */
final class CudaStructures {
    static final int PINNED = 1;
    static final int DEVICE = 1;
    static final int POSIX_DESCRIPTOR = 1;
    static final int FABRIC = 8;
    static final int FABRIC_HANDLE_BYTES = 64;
    static final int READ_WRITE = 3;
    static final int RECOMMENDED = 1;
    private static final int STREAM_ORDER = 1;

    private static final long PROPERTIES_BYTES = 32;
    private static final long TYPE = 0;
    private static final long HANDLE_TYPES = 4;
    private static final long LOCATION_TYPE = 8;
    private static final long LOCATION_ID = 12;

    static final long OPERATION_BYTES = 48;
    private static final long OPERATION = 0;
    private static final long OPERATION_ADDRESS = 8;
    private static final long OPERATION_VALUE = 16;
    private static final long OPERATION_FLAGS = 24;
    private static final int WAIT_64 = 4;
    private static final int WRITE_64 = 5;
    private static final int WAIT_GEQ = 0;
    private static final int WAIT_FLUSH = 1 << 30;

    private CudaStructures() {}

    /** {@return pinned memory of a device, exportable as a handle of the type} */
    static MemorySegment allocationProperties(Arena arena, int device, int handleType) {
        MemorySegment properties = arena.allocate(PROPERTIES_BYTES, 8);
        properties.set(ValueLayout.JAVA_INT, TYPE, PINNED);
        properties.set(ValueLayout.JAVA_INT, HANDLE_TYPES, handleType);
        properties.set(ValueLayout.JAVA_INT, LOCATION_TYPE, DEVICE);
        properties.set(ValueLayout.JAVA_INT, LOCATION_ID, device);
        return properties;
    }

    /**
     * What the driver says of an allocation.
     *
     * @param type         1 is pinned
     * @param handleTypes  1 is a POSIX descriptor
     * @param locationType 1 is a device
     * @param locationId   which
     */
    record AllocationProperties(int type, int handleTypes, int locationType, int locationId) {
        static AllocationProperties of(long handle, String purpose) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment properties = arena.allocate(PROPERTIES_BYTES, 8);
                CudaDriver.memGetAllocationPropertiesFromHandle(properties, handle, purpose);
                return new AllocationProperties(properties.get(ValueLayout.JAVA_INT, TYPE),
                        properties.get(ValueLayout.JAVA_INT, HANDLE_TYPES), properties.get(ValueLayout.JAVA_INT, LOCATION_TYPE),
                        properties.get(ValueLayout.JAVA_INT, LOCATION_ID));
            }
        }
    }

    /** {@return read and write access for a device} */
    static MemorySegment accessFor(Arena arena, int device) {
        MemorySegment access = arena.allocate(12, 4);
        access.set(ValueLayout.JAVA_INT, 0, DEVICE);
        access.set(ValueLayout.JAVA_INT, 4, device);
        access.set(ValueLayout.JAVA_INT, 8, READ_WRITE);
        return access;
    }

    /** {@return a multicast object, exportable as a handle of the type} */
    static MemorySegment multicastProperties(Arena arena, int devices, long sizeBytes, int handleType) {
        MemorySegment properties = arena.allocate(32, 8);
        properties.set(ValueLayout.JAVA_INT, 0, devices);
        properties.set(ValueLayout.JAVA_LONG, 8, sizeBytes);
        properties.set(ValueLayout.JAVA_LONG, 16, handleType);
        return properties;
    }

    /** {@return a device as a location} */
    static MemorySegment location(Arena arena, int device) {
        MemorySegment location = arena.allocate(8, 4);
        location.set(ValueLayout.JAVA_INT, 0, DEVICE);
        location.set(ValueLayout.JAVA_INT, 4, device);
        return location;
    }

    /** {@return attributes of copies whose sources are read in the order of the stream} */
    static MemorySegment copiesInStreamOrder(Arena arena) {
        MemorySegment attributes = arena.allocate(24, 4);
        attributes.set(ValueLayout.JAVA_INT, 0, STREAM_ORDER);
        return attributes;
    }

    /** Makes one operation of a batch a store, after all that was stored before it in the stream. */
    static void write(MemorySegment operations, int index, long address, long value) {
        set(operations, index, WRITE_64, address, value, 0);
    }

    /** Makes one operation of a batch a wait until a word is at least a value; it may be stored by another device. */
    static void waitFor(MemorySegment operations, int index, long address, long value, boolean flush) {
        set(operations, index, WAIT_64, address, value, flush ? WAIT_GEQ | WAIT_FLUSH : WAIT_GEQ);
    }

    private static void set(MemorySegment operations, int index, int operation, long address, long value, int flags) {
        MemorySegment at = operations.asSlice(index * OPERATION_BYTES, OPERATION_BYTES).fill((byte) 0);
        at.set(ValueLayout.JAVA_INT, OPERATION, operation);
        at.set(ValueLayout.JAVA_LONG, OPERATION_ADDRESS, address);
        at.set(ValueLayout.JAVA_LONG, OPERATION_VALUE, value);
        at.set(ValueLayout.JAVA_INT, OPERATION_FLAGS, flags);
    }
}
