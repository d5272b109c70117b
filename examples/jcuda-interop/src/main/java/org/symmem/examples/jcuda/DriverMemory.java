package org.symmem.examples.jcuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The three driver calls of virtual memory that JCuda 12.6.0 passes wrong structures to, and one whose argument it cannot take from
 * outside: by {@code java.lang.foreign}. The current context is the calling thread's, as in JCuda.
 *
 * <pre>
 *   CUmemAllocationProp   0 type i32 | 4 handle types i32 | 8 location type i32 | 12 location id i32 | 16 pointer | 24 flags | 32
 *   CUmemAccessDesc       0 location type i32 | 4 location id i32 | 8 flags i32 | 12
 * </pre>
 */
final class DriverMemory {
    private static final int PINNED = 1;
    private static final int DEVICE = 1;
    /** Only memory that can be exported as a POSIX descriptor can be shared with other processes. */
    private static final int POSIX_DESCRIPTOR = 1;
    private static final int READ_WRITE = 3;
    private static final long PROPERTIES_BYTES = 32;
    private static final long ACCESS_BYTES = 12;

    private static final SymbolLookup DRIVER = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
    private static final MethodHandle GRANULARITY = function("cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
    private static final MethodHandle CREATE = function("cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final MethodHandle MAP = function("cuMemMap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SET_ACCESS = function("cuMemSetAccess", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final MethodHandle RELEASE = function("cuMemRelease", JAVA_LONG);

    private DriverMemory() {}

    private static MethodHandle function(String name, MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(DRIVER.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private static MemorySegment properties(Arena arena, int device) {
        MemorySegment properties = arena.allocate(PROPERTIES_BYTES, 8);
        properties.set(JAVA_INT, 0, PINNED);
        properties.set(JAVA_INT, 4, POSIX_DESCRIPTOR);
        properties.set(JAVA_INT, 8, DEVICE);
        properties.set(JAVA_INT, 12, device);
        return properties;
    }

    /** {@return the unit of sizes, in bytes} */
    static long granularity(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment granularity = arena.allocate(JAVA_LONG);
            check("cuMemGetAllocationGranularity", (int) GRANULARITY.invokeExact(granularity, properties(arena, device), 0));
            return granularity.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Puts new memory behind a reserved range, where the device may read and write it. */
    static void populate(long address, long sizeBytes, int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(JAVA_LONG);
            check("cuMemCreate", (int) CREATE.invokeExact(handle, sizeBytes, properties(arena, device), 0L));
            try {
                check("cuMemMap", (int) MAP.invokeExact(address, sizeBytes, 0L, handle.get(JAVA_LONG, 0), 0L));
            } finally {
                // The mapping keeps the memory.
                check("cuMemRelease", (int) RELEASE.invokeExact(handle.get(JAVA_LONG, 0)));
            }
            MemorySegment access = arena.allocate(ACCESS_BYTES, 4);
            access.set(JAVA_INT, 0, DEVICE);
            access.set(JAVA_INT, 4, device);
            access.set(JAVA_INT, 8, READ_WRITE);
            check("cuMemSetAccess", (int) SET_ACCESS.invokeExact(address, sizeBytes, access, 1L));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    private static void check(String call, int result) {
        if (result != 0) {
            throw new IllegalStateException(call + " failed: " + jcuda.driver.CUresult.stringFor(result) + " (" + result + ")");
        }
    }

    private static RuntimeException unchecked(Throwable e) {
        return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
    }
}
