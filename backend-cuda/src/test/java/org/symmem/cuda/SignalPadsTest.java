package org.symmem.cuda;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.tck.RankContext;
import org.symmem.tck.RankJob;

/** Pads that share a memory; over the emulated driver. */
class SignalPadsTest {
    private static final long GRANULE = 2 << 20;

    @Test
    void memoryForPadsDoesNotGrowWithTensorsThatCameAndWent() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(2, 1, Map.of()))) {
            ranks.run("pads-reused", rank -> {
                try (SymmetricMemory memory = open(rank); SymmetricTensor old = granule(memory)) {
                    old.rendezvous();
                    String before = EmulatedDriver.live();
                    // Far more than fit into one memory, while an older tensor stays open.
                    for (int i = 0; i < 30; i++) {
                        try (SymmetricTensor tensor = granule(memory)) {
                            tensor.rendezvous();
                        }
                    }
                    rank.checkEqual(before, EmulatedDriver.live(), "what is alive");
                    tell(rank, old, 0);
                }
            });
        }
    }

    /** A slot that a slower rank still signals to must not be another tensor's yet. */
    @Test
    void aSlotIsNotUsedAgainBeforeAllRanksHaveClosedItsTensor() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(2, 1, Map.of()))) {
            ranks.run("pads-kept", rank -> {
                try (SymmetricMemory memory = open(rank)) {
                    Deque<SymmetricTensor> kept = new ArrayDeque<>();
                    for (int round = 0; round < 40; round++) {
                        SymmetricTensor tensor = granule(memory);
                        tensor.rendezvous();
                        if (rank.rank() == 0) {
                            tensor.close();
                        } else {
                            // Signals that nobody awaits go on long after rank 0 closed its side.
                            kept.add(tensor);
                            kept.forEach(earlier -> earlier.signals().signal(0, 0));
                            if (kept.size() > 3) {
                                kept.removeFirst().close();
                            }
                        }
                        if (round % 8 == 0) {
                            try (SymmetricTensor fresh = granule(memory)) {
                                fresh.rendezvous();
                                tell(rank, fresh, 0);
                            }
                        }
                    }
                    kept.forEach(SymmetricTensor::close);
                }
            });
        }
    }

    @Test
    void moreTensorsThanFitOneMemoryAreAliveAtOnce() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(2, 1, Map.of()))) {
            ranks.run("pads-many", rank -> {
                try (SymmetricMemory memory = open(rank)) {
                    Deque<SymmetricTensor> all = new ArrayDeque<>();
                    for (int i = 0; i < 20; i++) {
                        SymmetricTensor tensor = granule(memory);
                        tensor.rendezvous();
                        all.add(tensor);
                    }
                    for (SymmetricTensor tensor : all) {
                        tell(rank, tensor, 1);
                    }
                    all.forEach(SymmetricTensor::close);
                }
            });
        }
    }

    /** So many channels that a memory for pads has room for 7 tensors. */
    private static SymmetricMemory open(RankContext rank) {
        return rank.opened(SymmetricMemory.open(rank.freshGroup(), rank.options().withChannels(1024)));
    }

    private static SymmetricTensor granule(SymmetricMemory memory) {
        return memory.allocate(Shape.of(GRANULE), DataType.UINT8);
    }

    private static void tell(RankContext rank, SymmetricTensor tensor, int channel) {
        tensor.signals().signal(rank.next(), channel);
        tensor.signals().await(rank.previous(), channel, RankContext.SOON);
        tensor.signals().barrier(channel, RankContext.SOON);
    }
}
