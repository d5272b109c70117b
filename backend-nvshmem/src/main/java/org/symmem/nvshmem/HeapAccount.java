package org.symmem.nvshmem;

import java.util.List;
import java.util.Optional;

/**
 * What is known of the heap's size without asking the library, which cannot be asked. The library takes memory from the device in
 * large pieces and keeps them. Where a piece cannot be had it may end the process, or leave the ranks with different heaps, so a
 * request that cannot succeed is refused before it is made. The same on every rank, since all make the same requests.
 */
final class HeapAccount {
    /** How the library aligns what it gives. */
    static final long ALIGNMENT = 512;
    private static final long PIECE_BYTES = 512L << 20;
    private static final long MOST_BYTES = 128L << 30;

    private final List<String> devices;
    private final long pieceBytes;
    private final long mostBytes;
    private long mappedBytes;
    private long usedBytes;

    /** @param devices every rank's device, by what tells devices apart */
    HeapAccount(List<String> devices) {
        this.devices = devices;
        this.pieceBytes = variable("NVSHMEM_CUMEM_GRANULARITY", PIECE_BYTES);
        this.mostBytes = variable("NVSHMEM_MAX_MEMORY_PER_GPU", MOST_BYTES);
        // The library keeps data of its own in a first piece.
        this.mappedBytes = pieceBytes;
    }

    private static long variable(String name, long otherwise) {
        String value = System.getenv(name);
        if (value == null || !value.matches("\\d{1,15}[kKmMgG]?")) {
            // The library judges what it cannot read.
            return otherwise;
        }
        int shift = 10 * ("kmg".indexOf(Character.toLowerCase(value.charAt(value.length() - 1))) + 1);
        return Long.parseLong(shift == 0 ? value : value.substring(0, value.length() - 1)) << shift;
    }

    private long growthFor(long sizeBytes) {
        long over = usedBytes + rounded(sizeBytes) - mappedBytes;
        return over <= 0 ? 0 : roundUp(rounded(sizeBytes), pieceBytes);
    }

    private static long rounded(long sizeBytes) {
        return roundUp(sizeBytes, ALIGNMENT);
    }

    static long roundUp(long value, long unit) {
        return Math.ceilDiv(value, unit) * unit;
    }

    /** {@return why a request cannot succeed, given every rank's free device memory; empty if it may} */
    Optional<String> refusal(long sizeBytes, List<Long> freeBytes) {
        if (sizeBytes >= mostBytes) {
            return Optional.of("a rank's heap has " + mostBytes + " bytes of addresses (NVSHMEM_MAX_MEMORY_PER_GPU)");
        }
        long growth = growthFor(sizeBytes);
        if (growth > 0 && mappedBytes + growth >= mostBytes) {
            return Optional.of("a rank's heap has " + mostBytes + " bytes of addresses (NVSHMEM_MAX_MEMORY_PER_GPU), of which about "
                    + mappedBytes + " are taken");
        }
        for (int rank = 0; rank < devices.size(); rank++) {
            String device = devices.get(rank);
            long sharing = devices.stream().filter(device::equals).count();
            if (growth * sharing > freeBytes.get(rank)) {
                return Optional
                        .of("the heap holds about " + mappedBytes + " bytes of which " + usedBytes + " are in use, so it would grow by "
                                + growth + " (a multiple of NVSHMEM_CUMEM_GRANULARITY, " + pieceBytes + ") for each of the " + sharing
                                + " ranks on the device of rank " + rank + ", which has " + freeBytes.get(rank) + " bytes free");
            }
        }
        return Optional.empty();
    }

    void allocated(long sizeBytes) {
        mappedBytes += growthFor(sizeBytes);
        usedBytes += rounded(sizeBytes);
    }

    void freed(long sizeBytes) {
        usedBytes -= rounded(sizeBytes);
    }
}
