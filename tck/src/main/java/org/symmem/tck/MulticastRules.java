package org.symmem.tck;

import java.nio.charset.StandardCharsets;
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

    /** If this fails, check that the offset counts from each buffer's first byte, and that a block is checked against the buffers. */
    @Rule(value = "SM-MC-3", needs = Capability.MULTICAST, ranks = 2)
    default void SM_MC_3_aBlockStoredThroughMulticastChangesJustItsBytesAndMustFit() {
        ranks().run(rank -> {
            int size = 10_000;
            SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(size), DataType.UINT8));
            SymmetricTensor source = rank.opened(rank.memory().allocate(Shape.of(512), DataType.UINT8));
            rank.write(tensor.local(), rank.values(rank.rank(), 0, size, 0));
            rank.write(source.local(), rank.values(0, 4096, 512, 3));
            tensor.rendezvous();
            rank.meet();
            if (rank.rank() == 0) {
                try (Stream stream = rank.memory().newStream()) {
                    for (long wrong : new long[]{-1, size - 511, Long.MAX_VALUE}) {
                        rank.checkThrows(IndexOutOfBoundsException.class, () -> tensor.multicast().copyFrom(source.local(), wrong, stream));
                    }
                    tensor.multicast().copyFrom(source.local(), 4096, stream);
                    stream.synchronize(RankContext.SOON);
                }
            }
            rank.meet();
            rank.checkHolds(tensor.local().slice(0, 4096), rank.rank(), 0, 0, "bytes before the block");
            rank.checkHolds(tensor.local().slice(4096, 512), 0, 4096, 3, "the block");
            rank.checkHolds(tensor.local().slice(4608, size - 4608), rank.rank(), 4608, 0, "bytes after the block");
            rank.meet();
        });
    }

    /** If this fails, check that the ranks agree on the outcome of binding before any of them says yes. */
    @Rule(value = "SM-MC-4", needs = Capability.MULTICAST, ranks = 2)
    default void SM_MC_4_allRanksHaveMulticastForATensorOrNone() {
        ranks().run(rank -> {
            for (int size : new int[]{1, 4096, 3_000_000}) {
                SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(size), DataType.UINT8));
                tensor.rendezvous();
                String own = Boolean.toString(tensor.multicastSupport().supported());
                for (byte[] other : rank.memory()
                        .group()
                        .allGather("comparing multicast", own.getBytes(StandardCharsets.US_ASCII), RankContext.SOON)) {
                    rank.checkEqual(own, new String(other, StandardCharsets.US_ASCII), "another rank's answer for " + size + " bytes");
                }
            }
        });
    }

    /** The emulated driver fails on demand; the tests of the backends that use it hold the rule. */
    @Rule(value = "SM-MC-5", untested = "it takes a driver that fails on one rank while multicast is set up")
    default void SM_MC_5_multicastThatFailsOnOneRankIsAbsentOnAllAndTheRestWorks() {}
}
