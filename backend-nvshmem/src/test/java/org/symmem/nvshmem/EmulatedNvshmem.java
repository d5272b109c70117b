package org.symmem.nvshmem;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.tck.RankContext;
import org.symmem.tck.TckSettings;

/** Ranks over the emulated library and driver. */
final class EmulatedNvshmem {
    /** What waits for a rank that does not come is over soon. */
    static final String IMPATIENT = "-Dsymmem.tck.timeoutMultiplier=0.2";

    private EmulatedNvshmem() {}

    /** {@return settings for ranks with so many emulated devices and more variables} */
    static TckSettings settings(int ranks, int devices, Map<String, String> more) {
        Map<String, String> environment = new HashMap<>(Map.of("SYMMEM_EMULATION_DEVICES", Integer.toString(devices)));
        environment.putAll(more);
        return TckSettings.forBackend("nvshmem").withRanks(ranks).withEnvironment(environment);
    }

    /** {@return settings for two ranks on one device, which wait for each other for 3 seconds only} */
    static TckSettings impatient(Map<String, String> more) {
        return settings(2, 1, more).withJvmFlags(List.of(IMPATIENT));
    }

    static SymmetricTensor bytes(SymmetricMemory memory, long size) {
        return memory.allocate(Shape.of(size), DataType.UINT8);
    }

    /** Every rank writes, and reads what the next one wrote. Collective. */
    static void checkShares(RankContext rank, SymmetricTensor tensor, int round) {
        int size = Math.toIntExact(tensor.sizeBytes());
        rank.write(tensor.local(), rank.values(rank.rank(), 0, size, round));
        tensor.rendezvous();
        rank.meet();
        rank.checkHolds(tensor.remote(rank.next()), rank.next(), 0, round, "the next rank's buffer");
        rank.meet();
    }
}
