package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/**
 * Several copies from one place by one call of the driver, where it has that call. {@code symmem.cuda.batchCopies} (or
 * {@code SYMMEM_CUDA_BATCHCOPIES}) {@code off} makes single calls of them.
 */
final class BatchedCopies {
    private static final String PROPERTY = "symmem.cuda.batchCopies";
    private static final String VARIABLE = "SYMMEM_CUDA_BATCHCOPIES";
    /** The legacy default stream, by both of its handles: the call refuses it. Source: CUDA Driver API, cuMemcpyBatchAsync. */
    private static final long LAST_LEGACY_STREAM = 1;

    private BatchedCopies() {}

    /** {@return whether copies on a stream are batched} */
    static boolean on(long stream) {
        return wanted() && stream > LAST_LEGACY_STREAM && CudaDriver.hasMemcpyBatchAsync();
    }

    private static boolean wanted() {
        String property = System.getProperty(PROPERTY);
        String value = property != null ? property : System.getenv(VARIABLE);
        return switch (value) {
            case null -> true;
            case "auto" -> true;
            case "off" -> false;
            default -> throw new SymmetricMemoryException(ErrorCode.SETTING,
                    (property != null ? "the property " + PROPERTY : "the variable " + VARIABLE) + " is '" + value
                            + "', not one of auto, off");
        };
    }

    /** Puts the copies on a stream; the device is current. */
    static void put(long[] targets, long source, long sizeBytes, long stream, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            int count = targets.length;
            MemorySegment to = arena.allocateFrom(ValueLayout.JAVA_LONG, targets);
            MemorySegment from = arena.allocate(ValueLayout.JAVA_LONG, count);
            MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, count);
            for (int i = 0; i < count; i++) {
                from.setAtIndex(ValueLayout.JAVA_LONG, i, source);
                sizes.setAtIndex(ValueLayout.JAVA_LONG, i, sizeBytes);
            }
            MemorySegment first = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memcpyBatchAsync(to, from, sizes, count, CudaStructures.copiesInStreamOrder(arena), first, 1, stream,
                    purpose);
        }
    }
}
