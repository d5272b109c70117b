package org.symmem.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.SymmetricTensor;
import org.symmem.tck.RankContext;
import org.symmem.tck.RankJob;

/** Device memory and descriptors are what they were, after many tensors came and went. */
class CyclesTest {
    private static final int CYCLES = 200;

    @Test
    void twoHundredCyclesLeaveDeviceMemoryAndDescriptorsAsTheyWere(@TempDir Path accounting) {
        try (RankJob ranks = new RankJob(HardwareOrEmulated.settings(2, 1, Map.of("DIR", accounting.toString())))) {
            ranks.run("cycles", rank -> {
                // What the driver and the JVM make once is made before.
                cycle(rank, 0);
                String before = state(rank);
                for (int i = 0; i < CYCLES; i++) {
                    cycle(rank, i);
                }
                rank.checkEqual(before, state(rank), "device memory and descriptors");
            });
        }
    }

    /** Sizes with a pad behind the data and without, in turns. */
    private static void cycle(RankContext rank, int round) {
        try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(round % 2 == 0 ? 4 << 20 : 3_000_000), DataType.UINT8)) {
            tensor.rendezvous();
            tensor.signals().signal(rank.next(), 0);
            tensor.signals().await(rank.previous(), 0, RankContext.SOON);
        }
    }

    private static String state(RankContext rank) throws IOException {
        // Ranks share the device, so that none may still hold what it is about to free.
        rank.meet();
        try (CudaDevice device = CudaDevice.forLocalRank(rank.rank()); Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return device.memory() + ", " + descriptors.count() + " descriptors";
        } finally {
            rank.meet();
        }
    }
}
