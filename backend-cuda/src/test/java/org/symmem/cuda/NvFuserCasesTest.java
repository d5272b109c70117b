package org.symmem.cuda;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.symmem.DataType;
import org.symmem.MemoryRegion;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.tck.RankJob;
import org.symmem.tck.RankContext;

/**
 * The four cases of nvFuser's test of symmetric tensors, with its sizes and values. Over the emulated driver; with
 * {@code -Dsymmem.test.hardware=true} over the machine's, where the one of multicast is left out.
 */
class NvFuserCasesTest {
    private static final RankJob RANKS = new RankJob(HardwareOrEmulated.settings(2, 2, Map.of("MULTICAST", "1")));

    @AfterAll
    static void endRanks() {
        RANKS.close();
    }

    @Test
    void aPeersBufferHoldsWhatItWasFilledWith() {
        RANKS.run("nvfuser-basic", rank -> {
            try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(256, 512), DataType.FLOAT32)) {
                tensor.local().fill(rank.rank() + 100f);
                tensor.rendezvous();
                rank.meet();
                for (int peer = 0; peer < rank.worldSize(); peer++) {
                    checkAll(rank, tensor.remote(peer), peer + 100f);
                }
                rank.meet();
            }
        });
    }

    @Test
    void aPreallocatedBufferIsWrapped() {
        RANKS.run("nvfuser-preallocated", rank -> {
            Shape shape = Shape.of(128, 256);
            try (SymmetricTensor users = rank.memory().allocate(shape, DataType.FLOAT64);
                    SymmetricTensor tensor = rank.memory()
                            .wrap(MemoryRegion.of(users.local().address(), users.sizeBytes()), shape, DataType.FLOAT64)) {
                users.local().fill(rank.rank() * 1000.0 + 42);
                tensor.rendezvous();
                rank.meet();
                for (int peer = 0; peer < rank.worldSize(); peer++) {
                    double[] found = new double[128 * 256];
                    tensor.remote(peer).copyTo(MemorySegment.ofArray(found));
                    double expected = peer * 1000.0 + 42;
                    rank.check(Arrays.stream(found).allMatch(value -> value == expected), "rank " + peer + " should hold " + expected);
                }
                rank.meet();
            }
        });
    }

    @Test
    void theContiguousViewShowsAllRanks() {
        RANKS.run("nvfuser-view", rank -> {
            try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(2, 262_144), DataType.FLOAT32)) {
                tensor.local().fill(rank.rank() + 100f);
                tensor.rendezvous();
                rank.meet();
                TensorView all = tensor.contiguousView();
                rank.checkEqual(Shape.of(rank.worldSize(), 2, 262_144), all.shape(), "the shape of the view");
                for (int peer = 0; peer < rank.worldSize(); peer++) {
                    checkAll(rank, all.select(peer), peer + 100f);
                }
                rank.meet();
            }
        });
    }

    @Test
    void whatOneRankStoresThroughMulticastAllRanksHave() {
        Assumptions.assumeFalse(HardwareOrEmulated.HARDWARE, "multicast is tried on the emulated driver only");
        RANKS.run("nvfuser-multicast", rank -> {
            Shape shape = Shape.of(524_288);
            try (SymmetricTensor tensor = rank.memory().allocate(shape, DataType.INT32);
                    SymmetricTensor source = rank.memory().allocate(shape, DataType.INT32);
                    Stream stream = rank.memory().newStream()) {
                tensor.rendezvous();
                int root = 0;
                if (rank.rank() == root) {
                    int[] values = java.util.stream.IntStream.range(0, 524_288).toArray();
                    source.local().copyFrom(MemorySegment.ofArray(values));
                    tensor.multicast().copyFrom(source.local(), 0, stream);
                    stream.synchronize(RankContext.SOON);
                }
                rank.meet();
                int[] found = new int[524_288];
                tensor.local().copyTo(MemorySegment.ofArray(found));
                rank.check(Arrays.equals(found, java.util.stream.IntStream.range(0, 524_288).toArray()),
                        "every rank should hold what rank 0 stored");
                rank.meet();
            }
        });
    }

    private static void checkAll(RankContext rank, TensorView view, float expected) {
        float[] found = new float[Math.toIntExact(view.sizeBytes() / Float.BYTES)];
        view.copyTo(MemorySegment.ofArray(found));
        for (int i = 0; i < found.length; i++) {
            if (found[i] != expected) {
                throw new AssertionError("element " + i + " should be " + expected + " and is " + found[i] + ", seen by rank "
                        + rank.rank());
            }
        }
    }
}
