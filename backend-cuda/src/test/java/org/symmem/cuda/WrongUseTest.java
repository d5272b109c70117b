package org.symmem.cuda;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.symmem.DataType;
import org.symmem.MemoryRegion;
import org.symmem.Shape;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.tck.RankContext;
import org.symmem.tck.RankJob;
import org.symmem.tck.TckSettings;

/** What only device memory can be used wrongly for; over the emulated driver. */
class WrongUseTest {
    private static final long MEBIBYTE = 1 << 20;

    @Test
    void outOfDeviceMemorySaysRequestedFreeAndTotalAndLeavesNothing() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(1, 1, Map.of("MEMORY", Long.toString(64 * MEBIBYTE))))) {
            ranks.run("out-of-memory", rank -> {
                String before = EmulatedDriver.live();
                rank.checkThrows(SymmetricMemoryException.class,
                        () -> rank.memory().allocate(Shape.of(100 * MEBIBYTE), DataType.UINT8), "allocating 104857600 bytes on device 0",
                        " bytes free of 67108864", "CUDA_ERROR_OUT_OF_MEMORY", "Free some, ask for less, or use another device");
                rank.checkEqual(before, EmulatedDriver.live(), "what is alive");
                rank.memory().allocate(Shape.of(16 * MEBIBYTE), DataType.UINT8).close();
            });
        }
    }

    @Test
    void aDeviceThatIsNotThereIsAnErrorOfTheSetting() {
        TckSettings settings = EmulatedDriver.settings(2, 1, Map.of()).withJvmFlags(List.of("-Dsymmem.cuda.device=7"));
        try (RankJob ranks = new RankJob(settings)) {
            assertThatThrownBy(() -> ranks.run("wrong-ordinal", rank -> {}))
                    .hasMessageContaining("symmem.cuda.device (or SYMMEM_CUDA_DEVICE) is \"7\"; it is a device ordinal from 0 to 0");
        }
    }

    @Test
    void visibleDevicesInAnotherOrderAreSharedAllTheSame() {
        TckSettings settings = EmulatedDriver.settings(2, 3, Map.of());
        Map<String, String> environment = new java.util.HashMap<>(settings.environment());
        environment.put("CUDA_VISIBLE_DEVICES", "2,0");
        try (RankJob ranks = new RankJob(settings.withEnvironment(environment))) {
            ranks.run("permuted", rank -> {
                try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(4096), DataType.UINT8)) {
                    rank.write(tensor.local(), rank.values(rank.rank(), 0, 4096, 0));
                    tensor.rendezvous();
                    rank.meet();
                    rank.checkHolds(tensor.remote(rank.next()), rank.next(), 0, 0, "the peer's buffer");
                    rank.meet();
                }
            });
        }
    }

    @Test
    void plainDeviceMemoryCannotBeWrapped() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(1, 1, Map.of()))) {
            ranks.run("wrapping-plain-memory", rank -> {
                long address = plain("cuMemAlloc_v2", 4096);
                refuse(rank, address, 4096, "it is not memory that cuMemCreate made");
                plainFree(address);
            });
        }
    }

    @Test
    void memoryThatCannotBeExportedCannotBeWrapped() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(1, 1, Map.of()))) {
            ranks.run("wrapping-private-memory", rank -> {
                long size = 2 * MEBIBYTE;
                try (CudaDevice device = CudaDevice.forLocalRank(0);
                        CudaDevice.Current current = device.makeCurrent();
                        Arena arena = Arena.ofConfined();
                        PhysicalMemory memory = withoutHandleTypes(device, size, arena);
                        AddressRange range = AddressRange.reserve(size, "test")) {
                    range.map(0, memory, size, device, "test");
                    refuse(rank, range.address(), size, "it was not created to be exported as a POSIX descriptor (handle types 0)");
                    refuse(rank, range.address() + MEBIBYTE, size,
                            "the mapping around it ends after 1048576 bytes, the tensor needs 2097152",
                            "handle types 0");
                }
            });
        }
    }

    private static PhysicalMemory withoutHandleTypes(CudaDevice device, long size, Arena arena) {
        MemorySegment handle = arena.allocate(ValueLayout.JAVA_LONG);
        MemorySegment properties = CudaStructures.allocationProperties(arena, device.device(), 0);
        CudaDriver.memCreate(handle, size, properties, 0, "test");
        return new PhysicalMemory(handle.get(ValueLayout.JAVA_LONG, 0), size);
    }

    private static void refuse(RankContext rank, long address, long size, String... reasons) {
        MemoryRegion region = MemoryRegion.of(address, size);
        String said = rank.memory().validate(region, Shape.of(size), DataType.UINT8).toString();
        for (String reason : reasons) {
            rank.check(said.contains(reason), "the reasons should have \"" + reason + "\": " + said);
        }
        rank.checkThrows(SymmetricMemoryException.class, () -> rank.memory().wrap(region, Shape.of(size), DataType.UINT8), reasons);
    }

    private static long plain(String function, long size) throws Exception {
        try (CudaDevice device = CudaDevice.forLocalRank(0);
                CudaDevice.Current current = device.makeCurrent();
                Arena arena = Arena.ofConfined()) {
            MethodHandle allocate = Linker.nativeLinker()
                    .downcallHandle(CudaLibrary.symbol(function).orElseThrow(),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
            MemorySegment address = arena.allocate(ValueLayout.JAVA_LONG);
            if ((int) allocate.invokeExact(address, size) != 0) {
                throw new AssertionError(function + " failed");
            }
            return address.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static void plainFree(long address) {
        try (CudaDevice device = CudaDevice.forLocalRank(0); CudaDevice.Current current = device.makeCurrent()) {
            MethodHandle free = Linker.nativeLinker()
                    .downcallHandle(CudaLibrary.symbol("cuMemFree_v2").orElseThrow(),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
            if ((int) free.invokeExact(address) != 0) {
                throw new AssertionError("cuMemFree failed");
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
