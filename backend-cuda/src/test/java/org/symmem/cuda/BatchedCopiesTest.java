package org.symmem.cuda;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.tck.RankContext;
import org.symmem.tck.RankJob;

/** Copies from one place to several; over the emulated driver. */
class BatchedCopiesTest {
    private static final String BATCH = "cuMemcpyBatchAsync";
    private static final long ELEMENTS = 1000;

    @Test
    void copiesToAllRanksAreOneCallOfTheDriver() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(2, 1, Map.of()))) {
            ranks.run("copies-batched", rank -> rank.checkEqual(1L, batches(rank), "calls of " + BATCH));
        }
    }

    @Test
    void copiesAreSingleCallsWhenBatchesAreOff() {
        try (RankJob ranks = new RankJob(
                EmulatedDriver.settings(2, 1, Map.of()).withEnvironment(Map.of("SYMMEM_CUDA_BATCHCOPIES", "off")))) {
            ranks.run("copies-single", rank -> rank.checkEqual(0L, batches(rank), "calls of " + BATCH));
        }
    }

    /** {@return how many calls of the batch it took to bring one rank's values to both; the values are checked} */
    private static long batches(RankContext rank) throws Exception {
        long before = EmulatedDriver.calls(BATCH);
        SymmetricMemory memory = rank.memory();
        try (SymmetricTensor source = memory.allocate(Shape.of(ELEMENTS), DataType.FLOAT32);
                SymmetricTensor target = memory.allocate(Shape.of(2, ELEMENTS), DataType.FLOAT32);
                Stream stream = memory.newStream()) {
            source.local().fill(rank.rank() + 3);
            target.rendezvous();
            TensorView[] targets = {target.remote(0).select(rank.rank()), target.remote(1).select(rank.rank())};
            source.local().copyTo(targets, stream);
            stream.synchronize(Duration.ofSeconds(20));
            rank.meet();
            for (int sender = 0; sender < 2; sender++) {
                rank.checkEqual((double) (sender + 3), target.local().get(sender, ELEMENTS - 1), "last value from rank " + sender);
            }
            rank.meet();
        }
        return EmulatedDriver.calls(BATCH) - before;
    }
}
