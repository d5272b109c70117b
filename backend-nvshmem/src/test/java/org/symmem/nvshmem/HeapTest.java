package org.symmem.nvshmem;

import static org.symmem.nvshmem.EmulatedNvshmem.bytes;
import static org.symmem.nvshmem.EmulatedNvshmem.checkShares;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.symmem.Capability;
import org.symmem.CollectiveFailedException;
import org.symmem.DataType;
import org.symmem.ErrorCode;
import org.symmem.MemoryRegion;
import org.symmem.RanksDisagreeException;
import org.symmem.Shape;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.cuda.AddressRange;
import org.symmem.cuda.CudaDevice;
import org.symmem.cuda.PhysicalMemory;
import org.symmem.tck.RankContext;
import org.symmem.tck.RankJob;

/** The heap, which changes on all ranks together; over the emulated library. */
class HeapTest {
    private static final int OWN_BYTES = 2 << 20;
    private static final Map<String, String> SMALL = Map.of("SYMMEM_EMULATION_MEMORY", Long.toString(64 << 20), "NVSHMEM_CUMEM_GRANULARITY",
            "2M");

    @Test
    void aRequestThatTheDeviceCannotMeetIsRefusedBeforeTheLibraryIsAsked() {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, SMALL))) {
            ranks.run("exhausted", rank -> {
                var error = rank.checkThrows(SymmetricMemoryException.class, () -> bytes(rank.memory(), 48 << 20), "50331648",
                        "cannot be had", "each of the 2 ranks on the device", "Free some, ask for less");
                rank.checkEqual(ErrorCode.RESOURCE_LIMIT, error.code(), "the code");
                try (SymmetricTensor tensor = bytes(rank.memory(), 1 << 20)) {
                    checkShares(rank, tensor, 1);
                }
            });
        }
    }

    @Test
    void aHeapThatIsFullIsAnErrorAndGoesOn() {
        Map<String, String> limited = Map.of("NVSHMEM_CUMEM_GRANULARITY", "2M", "NVSHMEM_MAX_MEMORY_PER_GPU", "16M");
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, limited))) {
            ranks.run("full", rank -> {
                try (SymmetricTensor most = bytes(rank.memory(), 8 << 20)) {
                    rank.checkThrows(SymmetricMemoryException.class, () -> bytes(rank.memory(), 9 << 20), "NVSHMEM_MAX_MEMORY_PER_GPU");
                    checkShares(rank, most, 2);
                }
            });
        }
    }

    @Test
    void ranksThatCloseInDifferentOrdersAllGetAnErrorAndGoOn() {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, Map.of()))) {
            ranks.run("orders", rank -> {
                SymmetricTensor first = bytes(rank.memory(), 1000);
                SymmetricTensor second = bytes(rank.memory(), 2000);
                rank.checkThrows(RanksDisagreeException.class, () -> (rank.rank() == 0 ? first : second).close(),
                        "use NVSHMEM's heap in different orders", "rank 0", "rank 1");
                rank.checkThrows(RanksDisagreeException.class, () -> (rank.rank() == 0 ? second : first).close());
                try (SymmetricTensor tensor = bytes(rank.memory(), 3000)) {
                    checkShares(rank, tensor, 3);
                }
            });
        }
    }

    @Test
    void memoryThatOneRankDoesNotGetIsAnErrorOnAllAndTheEndOfTheLibrarysUse() {
        // The first two calls are the backend's own.
        Map<String, String> failing = Map.of("SYMMEM_EMULATION_NVSHMEM_FAIL", "call=nvshmem_align,rank=1,occurrence=2");
        try (RankJob ranks = new RankJob(EmulatedNvshmem.impatient(failing))) {
            ranks.run("one-rank", rank -> {
                rank.checkThrows(CollectiveFailedException.class, () -> bytes(rank.memory(), 1000), "rank 1",
                        "nvshmem_align gave no memory");
                rank.checkThrows(SymmetricMemoryException.class, () -> bytes(rank.memory(), 1000), "NVSHMEM cannot be used",
                        NvshmemErrors.WORLD.id());
            });
        }
    }

    @Test
    void aCallThatDoesNotReturnIsAnErrorAtTheDeadline() {
        Map<String, String> hanging = Map.of("SYMMEM_EMULATION_NVSHMEM_FAIL", "call=nvshmem_free,rank=1,code=hang");
        try (RankJob ranks = new RankJob(EmulatedNvshmem.impatient(hanging))) {
            ranks.run("hanging", rank -> {
                long start = System.nanoTime();
                // What cannot be given back is a warning: the tensor is closed all the same.
                bytes(rank.memory(), 1000).close();
                rank.check(System.nanoTime() - start < 10_000_000_000L, "the deadline of 3 s should be kept");
                rank.checkThrows(SymmetricMemoryException.class, () -> bytes(rank.memory(), 1000), NvshmemErrors.WORLD.id());
            });
        }
    }

    @Test
    void aBufferThatCannotBeClearedOnOneRankIsGivenBackByAll() {
        Map<String, String> failing = Map.of("SYMMEM_EMULATION_FAIL", "call=cuMemsetD8Async,rank=1,code=1");
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, failing))) {
            ranks.run("clearing", rank -> {
                rank.checkThrows(CollectiveFailedException.class, () -> bytes(rank.memory(), 1000), "rank 1", "clearing the buffer",
                        "cuMemsetD8Async");
                try (SymmetricTensor tensor = bytes(rank.memory(), 1000)) {
                    checkShares(rank, tensor, 6);
                }
            });
        }
    }

    @Test
    void wholeMemoriesAreRegisteredWhereEveryRankHasADevice() {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 2, Map.of()))) {
            ranks.run("registering", rank -> withOwnMemory(rank, region -> {
                rank.checkEqual(List.of(), rank.memory().validate(region, Shape.of(OWN_BYTES), DataType.UINT8), "reasons");
                try (SymmetricTensor tensor = rank.memory().wrap(region, Shape.of(OWN_BYTES), DataType.UINT8)) {
                    checkShares(rank, tensor, 4);
                }
            }));
        }
    }

    @Test
    void memoryOutsideTheHeapIsRefusedWhereTheLibraryCannotRegisterIt() {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, Map.of()))) {
            ranks.run("not-registering", rank -> withOwnMemory(rank,
                    region -> rank.checkThrows(SymmetricMemoryException.class,
                            () -> rank.memory().wrap(region, Shape.of(OWN_BYTES), DataType.UINT8),
                            "NVSHMEM cannot register buffers where ranks share a device")));
        }
    }

    /** Lets a body use memory that was made as a user makes it, without the library. */
    private static void withOwnMemory(RankContext rank, Consumer<MemoryRegion> body) {
        try (CudaDevice device = CudaDevice.forLocalRank(rank.rank());
                CudaDevice.Current current = device.makeCurrent();
                PhysicalMemory memory = PhysicalMemory.create(device, OWN_BYTES, "a user's memory");
                AddressRange range = AddressRange.reserve(OWN_BYTES, "a user's addresses")) {
            range.map(0, memory, OWN_BYTES, device, "a user's mapping");
            body.accept(MemoryRegion.of(range.address(), OWN_BYTES));
        }
    }

    @Test
    void peersThatNoStoreReachesArePutToAndGotFromByTheLibrary() {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, Map.of("SYMMEM_EMULATION_NVSHMEM_UNREACHABLE", "1")))) {
            ranks.run("unreachable", rank -> {
                rank.check(rank.memory().capability(Capability.PEER_ADDRESS).explanation().contains("nvshmem_ptr gives null"),
                        "the reason");
                // More than goes through at once.
                try (SymmetricTensor tensor = bytes(rank.memory(), (3 << 20) + 5)) {
                    checkShares(rank, tensor, 5);
                    tensor.remote(rank.next()).slice(7, 2 << 20).fill(0x5c);
                    rank.meet();
                    byte[] own = rank.read(tensor.local());
                    rank.checkEqual((byte) 0x5c, own[7 + (2 << 20) - 1], "the last byte that the previous rank filled");
                    rank.checkEqual(rank.value(rank.rank(), 6, 5), own[6], "the byte before");
                    rank.checkEqual(rank.value(rank.rank(), 7 + (2 << 20), 5), own[7 + (2 << 20)], "the byte after");
                    rank.meet();
                }
            });
        }
    }
}
