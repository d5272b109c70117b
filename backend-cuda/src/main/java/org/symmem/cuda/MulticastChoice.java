package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.symmem.NativeCallException;
import org.symmem.Support;
import org.symmem.spi.Agreement;
import org.symmem.spi.Wire;

/**
 * Whether the ranks of a group may use multicast, the same answer on all of them.
 *
 * @param support          yes, or why not
 * @param granularityBytes what sizes must be multiples of where it is supported, else 1
 */
record MulticastChoice(Support support, long granularityBytes) {
    /** {@code on} (default) or {@code off}. */
    static final String PROPERTY = "symmem.multicast";
    private static final Set<String> OFF = Set.of("0", "off", "false", "no");
    private static final int OLDEST_DRIVER = 12_010;
    private static final List<String> FUNCTIONS = List.of("cuMulticastGetGranularity", "cuMulticastCreate", "cuMulticastAddDevice",
            "cuMulticastBindMem", "cuMulticastUnbind");

    /** What one rank says. */
    private record Answer(String reason, String uuid, long granularityBytes) {}

    /** Compares what the ranks' devices, drivers and settings allow. Collective. */
    static MulticastChoice among(Agreement agreement, CudaDevice device, int handleType) {
        int worldSize = agreement.group().worldSize();
        List<Answer> answers = agreement.step("comparing multicast", () -> {
            Answer own = own(device, worldSize, handleType);
            return Wire.write(out -> {
                out.writeUTF(own.reason());
                out.writeUTF(own.uuid());
                out.writeLong(own.granularityBytes());
            });
        }).stream().map(bytes -> Wire.read(bytes, in -> new Answer(in.readUTF(), in.readUTF(), in.readLong()))).toList();
        Map<String, Integer> devices = new HashMap<>();
        for (int rank = 0; rank < worldSize; rank++) {
            Answer answer = answers.get(rank);
            if (!answer.reason().isEmpty()) {
                return no(worldSize == 1 ? answer.reason() : "rank " + rank + ": " + answer.reason());
            }
            Integer other = devices.put(answer.uuid(), rank);
            if (other != null) {
                return no("ranks " + other + " and " + rank + " share a device; multicast needs one for each");
            }
        }
        if (worldSize == 1) {
            return no("a world of 1 rank has nobody to send to");
        }
        return new MulticastChoice(new Support.Yes("one multicast object a tensor, all " + worldSize + " devices bound to it"),
                answers.stream().mapToLong(Answer::granularityBytes).max().orElseThrow());
    }

    private static MulticastChoice no(String reason) {
        return new MulticastChoice(new Support.No(reason), 1);
    }

    private static Answer own(CudaDevice device, int worldSize, int handleType) {
        Optional<String> reason = switchedOff(System.getenv(), System.getProperty(PROPERTY)).or(() -> lacking(device));
        if (reason.isPresent()) {
            return new Answer(reason.get(), device.uuid(), 1);
        }
        try (Arena arena = Arena.ofConfined(); CudaDevice.Current current = device.makeCurrent()) {
            MemorySegment granularity = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.multicastGetGranularity(granularity,
                    CudaStructures.multicastProperties(arena, worldSize, CudaBackend.granularityOf(device), handleType),
                    CudaStructures.RECOMMENDED,
                    "asking for the granularity of multicast");
            return new Answer("", device.uuid(), granularity.get(ValueLayout.JAVA_LONG, 0));
        } catch (NativeCallException e) {
            return new Answer(String.valueOf(e.getMessage()), device.uuid(), 1);
        }
    }

    /** The variables are those by which NCCL, PyTorch and NVSHMEM are kept from multicast: who sets one means the machine. */
    static Optional<String> switchedOff(Map<String, String> environment, @org.jspecify.annotations.Nullable String property) {
        if (property != null && OFF.contains(property.toLowerCase(Locale.ROOT))) {
            return Optional.of(PROPERTY + " is " + property);
        }
        return Stream.of("NCCL_NVLS_ENABLE=0", "TORCH_SYMM_MEM_DISABLE_MULTICAST=1", "NVSHMEM_DISABLE_NVLS=1")
                .filter(setting -> setting.equals(setting.substring(0, setting.indexOf('=') + 1)
                        + environment.get(setting.substring(0, setting.indexOf('=')))))
                .map(setting -> setting + " switches it off")
                .findFirst();
    }

    private static Optional<String> lacking(CudaDevice device) {
        if (!device.hasMulticast()) {
            return Optional.of(device + " has no multicast (attribute MULTICAST_SUPPORTED is 0)");
        }
        int version = CudaDevice.driverVersion();
        if (version < OLDEST_DRIVER) {
            return Optional.of("multicast needs driver 12.1, found " + version / 1000 + "." + version % 1000 / 10);
        }
        List<String> missing = FUNCTIONS.stream().filter(name -> CudaLibrary.symbol(name).isEmpty()).toList();
        return missing.isEmpty() ? Optional.empty() : Optional.of("the driver lacks " + String.join(", ", missing));
    }
}
