package org.symmem.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.symmem.DataType;
import org.symmem.DeadlineException;
import org.symmem.RanksDisagreeException;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

class CollectivesTest {
    private static SymmetricTensor filled(SymmetricMemory memory, Shape shape, double value) {
        SymmetricTensor tensor = memory.allocate(shape, DataType.INT32);
        tensor.local().fill(value);
        return tensor;
    }

    @ParameterizedTest
    @CsvSource({"1, 5, staged", "2, 5, staged", "3, 4096, staged", "3, 4097, read", "4, 100000, read"})
    void aBlockingBroadcastBringsTheRootsDataToAll(int ranks, long elements, String algorithm) throws Exception {
        Ranks.run(ranks, memory -> {
            int rank = memory.group().rank();
            try (Collectives collectives = Collectives.of(memory);
                    SymmetricTensor source = filled(memory, Shape.of(elements), rank + 7);
                    SymmetricTensor target = filled(memory, Shape.of(elements), -1)) {
                for (int root = 0; root < ranks; root++) {
                    Collective broadcast = collectives.broadcast(target, root);
                    assertThat(broadcast.algorithm()).hasToString(algorithm);
                    broadcast.run(rank == root ? source.local() : null, Ranks.SOON);
                    assertThat(target.local().get(0)).isEqualTo(root + 7);
                    assertThat(target.local().get(elements - 1)).isEqualTo(root + 7);
                }
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"1, 5, staged", "2, 5, staged", "3, 4096, staged", "3, 4097, read", "4, 100000, read"})
    void aBlockingAllgatherBringsEveryRanksDataToAll(int ranks, long elements, String algorithm) throws Exception {
        Ranks.run(ranks, memory -> {
            int rank = memory.group().rank();
            try (Collectives collectives = Collectives.of(memory);
                    SymmetricTensor source = filled(memory, Shape.of(elements), 0);
                    SymmetricTensor target = filled(memory, Shape.of(ranks, elements), -1)) {
                Collective gather = collectives.allGather(target);
                assertThat(gather.algorithm()).hasToString(algorithm);
                for (int round = 0; round < 5; round++) {
                    source.local().fill(100 * round + rank);
                    gather.run(source.local(), Ranks.SOON);
                    for (int peer = 0; peer < ranks; peer++) {
                        assertThat(target.local().get(peer, 0)).isEqualTo(100 * round + peer);
                        assertThat(target.local().get(peer, elements - 1)).isEqualTo(100 * round + peer);
                    }
                }
            }
        });
    }

    @Test
    void aCollectiveIsKnownByItsTargetAndNotByWhatItHolds() throws Exception {
        Ranks.run(1, memory -> {
            try (Collectives collectives = Collectives.of(memory);
                    SymmetricTensor one = filled(memory, Shape.of(1, 3), 1);
                    SymmetricTensor equal = filled(memory, Shape.of(1, 3), 1)) {
                assertThat(collectives.allGather(one)).isSameAs(collectives.allGather(one)).isNotSameAs(collectives.allGather(equal));
                assertThat(collectives.broadcast(one, 0)).isSameAs(collectives.broadcast(one, 0)).isNotSameAs(collectives.allGather(one));
            }
        });
    }

    @Test
    void aClosedTargetTakesItsCollectivesAlong() throws Exception {
        Ranks.run(1, memory -> {
            try (Collectives collectives = Collectives.of(memory)) {
                SymmetricTensor target = filled(memory, Shape.of(3), 1);
                Collective broadcast = collectives.broadcast(target, 0);
                target.close();
                assertThatIllegalStateException().isThrownBy(() -> broadcast.run(null, Ranks.SOON)).withMessageContaining("closed");
                assertThatIllegalStateException().isThrownBy(() -> collectives.broadcast(target, 0)).withMessageContaining("closed");
                assertThat(memory.liveAllocations()).isEmpty();
            }
        });
    }

    @Test
    void whatDoesNotFitIsRefusedBeforeAnythingIsSent() throws Exception {
        Ranks.run(1, memory -> {
            try (Collectives collectives = Collectives.of(memory);
                    Stream stream = memory.newStream();
                    SymmetricTensor target = filled(memory, Shape.of(1, 8), 1);
                    SymmetricTensor flat = filled(memory, Shape.of(8), 1);
                    SymmetricTensor small = filled(memory, Shape.of(4), 1)) {
                assertThatIllegalArgumentException().isThrownBy(() -> collectives.allGather(flat))
                        .withMessageContaining("the outermost extent");
                assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> collectives.broadcast(flat, 1))
                        .withMessageContaining("root 1 is not in [0, 1)");
                Collective broadcast = collectives.broadcast(flat, 0);
                assertThatIllegalArgumentException().isThrownBy(() -> broadcast.run(small.local(), Ranks.SOON))
                        .withMessageContaining("it must be int32 8");
                assertThatIllegalArgumentException().isThrownBy(() -> broadcast.run(null, Ranks.SOON))
                        .withMessageContaining("needs a source");
                assertThatIllegalStateException().isThrownBy(() -> broadcast.await(stream, Ranks.SOON))
                        .withMessageContaining("nothing was posted");
                broadcast.post(flat.local(), stream);
                assertThatIllegalStateException().isThrownBy(() -> broadcast.post(flat.local(), stream))
                        .withMessageContaining("not awaited yet");
                broadcast.await(stream, Ranks.SOON);
                stream.synchronize(Ranks.SOON);
            }
        });
    }

    @Test
    void aSourceMayBeItsOwnPlaceInTheTargetAndNoOtherPartOfIt() throws Exception {
        Ranks.run(2, memory -> {
            int rank = memory.group().rank();
            try (Collectives collectives = Collectives.of(memory); SymmetricTensor target = filled(memory, Shape.of(2, 8), 0)) {
                Collective gather = collectives.allGather(target);
                TensorView place = target.local().select(rank);
                place.fill(rank + 1);
                assertThatIllegalArgumentException().isThrownBy(() -> gather.run(target.local().select(1 - rank), Ranks.SOON))
                        .withMessageContaining("overlaps the target");
                gather.run(place, Ranks.SOON);
                assertThat(target.local().get(1 - rank, 7)).isEqualTo(2 - rank);
            }
        });
    }

    @Test
    void ranksThatDisagreeAllLearnWhoWantsWhat() throws Exception {
        Ranks.run(2, memory -> {
            try (Collectives collectives = Collectives.of(memory); SymmetricTensor target = filled(memory, Shape.of(2, 8), 0)) {
                assertThatExceptionOfType(RanksDisagreeException.class)
                        .isThrownBy(() -> collectives.broadcast(target, memory.group().rank()))
                        .withMessageContaining("root: 0 on rank 0, 1 on rank 1");
                collectives.broadcast(target, 1).run(target.local(), Ranks.SOON);
            }
        });
    }

    @Test
    void aRankThatDoesNotComeIsNamedAndTheCollectiveIsOver() throws Exception {
        Ranks.run(2, memory -> {
            try (Collectives collectives = Collectives.of(memory); SymmetricTensor target = filled(memory, Shape.of(8), 0)) {
                Collective broadcast = collectives.broadcast(target, 1);
                if (memory.group().rank() == 0) {
                    assertThatExceptionOfType(DeadlineException.class).isThrownBy(() -> broadcast.run(null, Duration.ofMillis(50)))
                            .withMessageContaining("broadcast from root 1 to")
                            .satisfies(e -> assertThat(e.missingRanks()).containsExactly(1));
                    assertThatIllegalStateException().isThrownBy(() -> broadcast.run(null, Ranks.SOON))
                            .withMessageContaining("failed before");
                }
                memory.group().allGather("seen", new byte[0], Ranks.SOON);
            }
        });
    }

    @Test
    void anUnknownAlgorithmIsAnErrorThatNamesTheKnownOnes() throws Exception {
        System.setProperty("symmem.broadcast", "quick");
        try {
            Ranks.run(1, memory -> {
                try (Collectives collectives = Collectives.of(memory); SymmetricTensor target = filled(memory, Shape.of(8), 0)) {
                    assertThatExceptionOfType(SymmetricMemoryException.class).isThrownBy(() -> collectives.broadcast(target, 0))
                            .withMessageContaining("'quick', not one of auto, staged, write, read, multicast");
                }
            });
        } finally {
            System.clearProperty("symmem.broadcast");
        }
    }
}
