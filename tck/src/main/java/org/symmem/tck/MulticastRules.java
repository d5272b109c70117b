package org.symmem.tck;

import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricTensor;
import org.symmem.UnsupportedCapabilityException;

/** Group F: multicast. */
interface MulticastRules extends Rules {
    /** If this fails, check that every rank's memory is bound, at the right offset, before anybody stores. */
    @Rule(value = "SM-MC-1", needs = Capability.MULTICAST, ranks = 2)
    default void SM_MC_1_whatOneRankStoresThroughMulticastAllRanksHave() {
        ranks().run(rank -> {
            for (int size : new int[]{4, 4096, 2_097_152}) {
                SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(size), DataType.UINT8));
                SymmetricTensor source = rank.opened(rank.memory().allocate(Shape.of(size), DataType.UINT8));
                tensor.rendezvous();
                rank.check(tensor.multicastSupport().supported(),
                        "this tensor has no multicast: " + tensor.multicastSupport().explanation());
                for (int root = 0; root < rank.worldSize(); root++) {
                    if (rank.rank() == root) {
                        rank.write(source.local(), rank.values(root, 0, size, root));
                        try (Stream stream = rank.memory().newStream()) {
                            tensor.multicast().copyFrom(source.local(), 0, stream);
                            stream.synchronize(RankContext.SOON);
                        }
                    }
                    rank.meet();
                    rank.checkHolds(tensor.local(), root, 0, root, "what rank " + root + " stored through multicast");
                    rank.meet();
                }
            }
        });
    }

    /** If this fails, check that the answer is agreed among the ranks and that the call throws the reason of the answer. */
    @Rule(value = "SM-MC-2", absent = Capability.MULTICAST)
    default void SM_MC_2_withoutMulticastAllRanksAreRefusedCleanly() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(64), DataType.UINT8));
            tensor.rendezvous();
            rank.check(!tensor.multicastSupport().supported(), "the tensor should not say that it has multicast");
            var error = rank.checkThrows(UnsupportedCapabilityException.class, tensor::multicast, tensor.multicastSupport().explanation());
            rank.checkEqual(Capability.MULTICAST, error.capability(), "the capability");
            rank.write(tensor.local(), rank.values(rank.rank(), 0, 64, 2));
            rank.meet();
            rank.checkHolds(tensor.remote(rank.next()), rank.next(), 0, 2, "the buffer after the refusal");
            rank.meet();
        });
    }
}
