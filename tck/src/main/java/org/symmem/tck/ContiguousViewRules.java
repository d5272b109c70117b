package org.symmem.tck;

import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.UnsupportedCapabilityException;

/** Group G: the contiguous view. */
interface ContiguousViewRules extends Rules {
    /** If this fails, check the order of the mappings and that nothing lies between them. */
    @Rule(value = "SM-VIEW-1", needs = Capability.CONTIGUOUS_VIEW)
    default void SM_VIEW_1_wholeGranulesLieSideBySideInRankOrder() {
        ranks().run(rank -> {
            int size = Math.toIntExact(rank.memory().granularityBytes());
            SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(2, size / 2), DataType.UINT8));
            rank.write(tensor.local(), rank.values(rank.rank(), 0, size, 1));
            tensor.rendezvous();
            rank.meet();
            TensorView all = tensor.contiguousView();
            rank.checkEqual(Shape.of(rank.worldSize(), 2, size / 2), all.shape(), "the shape");
            rank.check(all.isDense(), "the view of whole granules should have no gaps: " + all);
            TensorView flat = all.reshape(Shape.of((long) size * rank.worldSize()));
            TensorView last = flat.slice(flat.shape().extent(0) - 1, 1);
            try {
                rank.checkEqual(rank.value(rank.worldSize() - 1, size - 1, 1), rank.read(last)[0], "the last byte of the flat view");
            } catch (IndexOutOfBoundsException e) {
                throw new AssertionError("the view ends before the last rank's buffer does: " + e.getMessage(), e);
            }
            for (int peer = 0; peer < rank.worldSize(); peer++) {
                rank.checkHolds(all.select(peer), peer, 0, 1, "part " + peer + " of the view");
            }
            rank.meet();
        });
    }

    /** If this fails, check that the outermost stride is the distance of the mappings, not the size of the buffers. */
    @Rule(value = "SM-VIEW-2", needs = Capability.CONTIGUOUS_VIEW)
    default void SM_VIEW_2_theStrideSaysTheGapWhereASizeIsNoMultipleOfTheGranularity() {
        ranks().run(rank -> {
            for (int size : new int[]{4, 1000, Math.toIntExact(rank.memory().granularityBytes()) + 4}) {
                SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(size / 4), DataType.INT32));
                rank.write(tensor.local(), rank.values(rank.rank(), 0, size, 2));
                tensor.rendezvous();
                rank.meet();
                TensorView all = tensor.contiguousView();
                rank.check(all.strides()[0] * 4 >= size,
                        "the outermost stride of " + all.strides()[0] + " elements is smaller than a buffer of " + size + " bytes");
                for (int peer = 0; peer < rank.worldSize(); peer++) {
                    rank.checkHolds(all.select(peer), peer, 0, 2, "part " + peer + " of the view of " + size + " bytes");
                }
                byte[] whole = rank.read(all);
                rank.checkEqual(size * rank.worldSize(), whole.length, "the bytes of the view without its gaps");
                rank.checkEqual(rank.value(rank.worldSize() - 1, size - 1, 2), whole[whole.length - 1],
                        "the last byte of a copy of the view");
                rank.meet();
            }
        });
    }

    /** If this fails, check that the view shows the buffers and is not a copy of them. */
    @Rule(value = "SM-VIEW-3", needs = {Capability.CONTIGUOUS_VIEW, Capability.HOST_SIGNALS})
    default void SM_VIEW_3_theViewShowsLaterStoresAndTakesStores() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(512), DataType.UINT8));
            tensor.rendezvous();
            TensorView all = tensor.contiguousView();
            rank.write(tensor.local(), rank.values(rank.rank(), 0, 512, 3));
            tensor.signals().barrier(0, RankContext.SOON);
            rank.checkHolds(all.select(rank.next()), rank.next(), 0, 3, "a store made after the view");
            tensor.signals().barrier(0, RankContext.SOON);
            rank.write(all.select(rank.next()), rank.values(rank.next(), 0, 512, 4));
            tensor.signals().barrier(0, RankContext.SOON);
            rank.checkHolds(tensor.local(), rank.rank(), 0, 4, "a store made through a peer's view");
            tensor.signals().barrier(0, RankContext.SOON);
        });
    }

    /** If this fails, check the states of the tensor. */
    @Rule(value = "SM-VIEW-4", needs = Capability.CONTIGUOUS_VIEW)
    default void SM_VIEW_4_thereIsNoViewBeforeTheRendezvousNorAfterTheClose() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rank.memory().allocate(Shape.of(512), DataType.UINT8);
            rank.checkThrows(IllegalStateException.class, tensor::contiguousView, "rendezvous");
            tensor.rendezvous();
            TensorView all = tensor.contiguousView();
            rank.meet();
            tensor.close();
            rank.checkThrows(IllegalStateException.class, tensor::contiguousView, "closed");
            rank.checkThrows(IllegalStateException.class, () -> rank.read(all), "closed");
        });
    }

    /** If this fails, check that a backend without the view refuses it rather than handing out one rank's buffer. */
    @Rule(value = "SM-VIEW-5", absent = Capability.CONTIGUOUS_VIEW)
    default void SM_VIEW_5_withoutTheViewItIsRefusedCleanly() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(64), DataType.UINT8));
            tensor.rendezvous();
            var error = rank.checkThrows(UnsupportedCapabilityException.class, tensor::contiguousView);
            rank.checkEqual(Capability.CONTIGUOUS_VIEW, error.capability(), "the capability");
            rank.meet();
        });
    }
}
