package org.symmem.tck;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.UnsupportedCapabilityException;

/** Group D: access to peers' buffers. */
interface AccessRules extends Rules {
    private static SymmetricTensor rendezvoused(RankContext rank, long size) {
        SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(size), DataType.UINT8));
        rank.write(tensor.local(), rank.values(rank.rank(), 0, Math.toIntExact(size), 0));
        tensor.rendezvous();
        rank.meet();
        return tensor;
    }

    /** If this fails, check the offset and the length of copies, down to single bytes. */
    @Rule("SM-ACC-1")
    default void SM_ACC_1_aPutChangesJustTheBytesThatItNames() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 4000);
            int[][] ranges = {{1, 1}, {17, 3}, {64, 64}, {129, 1000}, {3999, 1}};
            for (int[] range : ranges) {
                rank.write(tensor.remote(rank.next()).slice(range[0], range[1]), rank.values(rank.next(), range[0], range[1], 1));
            }
            rank.meet();
            int at = 0;
            for (int[] range : ranges) {
                if (range[0] > at) {
                    rank.checkHolds(tensor.local().slice(at, range[0] - at), rank.rank(), at, 0, "bytes between puts");
                }
                rank.checkHolds(tensor.local().slice(range[0], range[1]), rank.rank(), range[0], 1, "bytes that a peer put");
                at = range[0] + range[1];
            }
            rank.meet();
        });
    }

    /** If this fails, check the direction and the offset of copies between symmetric buffers. */
    @Rule("SM-ACC-2")
    default void SM_ACC_2_copiesBetweenTheOwnAndAPeersBufferGoBothWays() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 2000);
            SymmetricTensor scratch = rendezvoused(rank, 2000);
            scratch.local().slice(100, 500).copyFrom(tensor.remote(rank.next()).slice(100, 500));
            rank.checkHolds(scratch.local().slice(100, 500), rank.next(), 100, 0, "what was got from the next rank");
            rank.meet();
            tensor.remote(rank.next()).slice(1000, 500).copyFrom(scratch.local().slice(0, 500));
            rank.meet();
            rank.checkHolds(tensor.local().slice(1100, 400), rank.rank(), 100, 0, "what the previous rank put, which it had got from here");
            rank.meet();
        });
    }

    /** If this fails, the checks of views in {@code org.symmem} are broken, or a backend's views are not its own. */
    @Rule("SM-ACC-3")
    default void SM_ACC_3_accessBeyondABufferIsRefused() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 100);
            TensorView view = tensor.remote(rank.next());
            rank.checkThrows(IndexOutOfBoundsException.class, () -> view.slice(90, 11));
            rank.checkThrows(IndexOutOfBoundsException.class, () -> view.slice(-1, 2));
            rank.checkThrows(IndexOutOfBoundsException.class, () -> view.select(100));
            rank.checkThrows(IllegalArgumentException.class, () -> view.copyFrom(MemorySegment.ofArray(new byte[101])), "101");
            rank.checkThrows(IllegalArgumentException.class, () -> view.copyFrom(tensor.local().slice(0, 99)));
            rank.meet();
            rank.checkHolds(tensor.local(), rank.rank(), 0, 0, "the buffer after refused access");
            rank.meet();
        });
    }

    /** If this fails, the check of ranks in {@code org.symmem} is broken. */
    @Rule("SM-ACC-4")
    default void SM_ACC_4_aRankOutOfRangeIsRefusedByName() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 8);
            for (int wrong : new int[]{-1, rank.worldSize(), Integer.MAX_VALUE}) {
                rank.checkThrows(IndexOutOfBoundsException.class, () -> tensor.remote(wrong), "rank " + wrong,
                        "[0, " + rank.worldSize() + ")");
            }
            rank.meet();
        });
    }

    /** If this fails, pad and data overlap: check their offsets in the allocation. */
    @Rule(value = "SM-ACC-5", needs = Capability.HOST_SIGNALS)
    default void SM_ACC_5_signalsAndDataDoNotTouchEachOther() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 5000);
            int channels = tensor.signals().channels();
            for (int channel = 0; channel < channels; channel++) {
                tensor.signals().signal(rank.next(), channel);
            }
            rank.meet();
            rank.checkHolds(tensor.local(), rank.rank(), 0, 0, "data after signals on all channels");
            rank.meet();
            tensor.remote(rank.next()).fill(255);
            tensor.local().fill(255);
            rank.meet();
            for (int channel = 0; channel < channels; channel++) {
                tensor.signals().await(rank.previous(), channel, RankContext.SOON);
            }
            rank.meet();
        });
    }

    /** If this fails, the walk over strides in {@code org.symmem} is broken, or small copies are. */
    @Rule("SM-ACC-6")
    default void SM_ACC_6_rowsOfATensorAreCopiedOneByOneOrTogetherAlike() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rank.opened(rank.memory().allocate(Shape.of(6, 5, 7), DataType.UINT8));
            tensor.rendezvous();
            for (int row = 0; row < 6; row++) {
                for (int column = 0; column < 5; column++) {
                    rank.write(tensor.remote(rank.next()).select(row).select(column),
                            rank.values(rank.next(), row * 35L + column * 7L, 7, 6));
                }
            }
            rank.meet();
            rank.checkHolds(tensor.local(), rank.rank(), 0, 6, "a tensor written by rows");
            rank.checkHolds(tensor.local().slice(2, 3), rank.rank(), 70, 6, "three rows of a tensor");
            rank.meet();
        });
    }

    /** If this fails, check that segments are those of the views, and that they are not limited to 2 GiB. */
    @Rule(value = "SM-ACC-7", needs = Capability.HOST_ACCESS)
    default void SM_ACC_7_theCpuLoadsAndStoresPeersBuffers() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 64);
            MemorySegment peer = tensor.remote(rank.next()).segment();
            rank.checkEqual(64L, peer.byteSize(), "the length of the segment");
            rank.checkEqual(tensor.remote(rank.next()).address(), peer.address(), "the address of the segment");
            rank.meet();
            peer.set(ValueLayout.JAVA_BYTE, 63, rank.value(rank.next(), 63, 7));
            rank.meet();
            rank.checkHolds(tensor.local().slice(63, 1), rank.rank(), 63, 7, "what a peer stored");
            rank.meet();
        });
    }

    /** If this fails, check that a backend without host access refuses it rather than handing out an address. */
    @Rule(value = "SM-ACC-8", absent = Capability.HOST_ACCESS)
    default void SM_ACC_8_withoutHostAccessSegmentsAreRefusedCleanly() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 64);
            var error = rank.checkThrows(UnsupportedCapabilityException.class, () -> tensor.local().segment());
            rank.checkEqual(Capability.HOST_ACCESS, error.capability(), "the capability");
            rank.checkHolds(tensor.local(), rank.rank(), 0, 0, "the buffer after the refusal");
            rank.meet();
        });
    }

    /** If this fails, check that a stream runs its operations one after the other, copies and fills alike. */
    @Rule("SM-ACC-9")
    default void SM_ACC_9_aStreamRunsItsOperationsInOrder() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 200_000);
            SymmetricTensor source = rendezvoused(rank, 200_000);
            Stream stream = rank.opened(rank.memory().newStream());
            for (int i = 0; i < 20; i++) {
                source.local().fill(i, stream);
                tensor.remote(rank.next()).copyFrom(source.local(), stream);
            }
            source.local().fill(77, stream);
            stream.synchronize(RankContext.SOON);
            rank.meet();
            for (byte b : rank.read(tensor.local())) {
                rank.checkEqual((byte) 19, b, "a byte of the last copy");
            }
            rank.meet();
        });
    }

    /** If this fails, check that a backend without native streams refuses a handle rather than running on another stream. */
    @Rule(value = "SM-ACC-10", absent = Capability.EXTERNAL_STREAM)
    default void SM_ACC_10_withoutExternalStreamsHandlesAreRefusedCleanly() {
        ranks().run(rank -> {
            var error = rank.checkThrows(UnsupportedCapabilityException.class, () -> rank.memory().wrapStream(1));
            rank.checkEqual(Capability.EXTERNAL_STREAM, error.capability(), "the capability");
            SymmetricTensor tensor = rendezvoused(rank, 64);
            Stream own = rank.opened(rank.memory().newStream());
            tensor.local().fill(10, own);
            own.synchronize(RankContext.SOON);
            rank.checkEqual((byte) 10, rank.read(tensor.local())[63], "a byte filled on a stream after the refusal");
            rank.meet();
        });
    }

    /** If this fails, check that a wrapped stream is the user's own: what he puts on it and what we put on it are in one order. */
    @Rule(value = "SM-ACC-11", needs = Capability.EXTERNAL_STREAM)
    default void SM_ACC_11_aStreamOfTheUsersRunsOperationsAndStaysTheUsers() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 100_000);
            SymmetricTensor source = rendezvoused(rank, 100_000);
            Stream users = rank.opened(rank.memory().newStream());
            rank.check(users.handle() != 0, "a stream of a backend with EXTERNAL_STREAM should have a handle");
            for (int i = 1; i <= 2; i++) {
                try (Stream wrapped = rank.memory().wrapStream(users.handle())) {
                    rank.checkEqual(users.handle(), wrapped.handle(), "the handle of the wrapped stream");
                    source.local().fill(i, users);
                    tensor.remote(rank.next()).copyFrom(source.local(), wrapped);
                }
            }
            source.local().fill(77, users);
            users.synchronize(RankContext.SOON);
            rank.meet();
            for (byte b : rank.read(tensor.local())) {
                rank.checkEqual((byte) 2, b, "a byte of the last copy");
            }
            rank.meet();
        });
    }

    /** If this fails, check that a peer which no load reaches has no address, and that put and get reach it all the same. */
    @Rule(value = "SM-ACC-12", absent = Capability.PEER_ADDRESS)
    default void SM_ACC_12_withoutPeerAddressesPutAndGetWork() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 1000);
            for (int peer = 0; peer < rank.worldSize(); peer++) {
                TensorView view = tensor.remote(peer);
                try {
                    rank.check(view.address() != 0, "a null address was handed out for rank " + peer);
                } catch (UnsupportedCapabilityException e) {
                    rank.checkEqual(Capability.PEER_ADDRESS, e.capability(), "the capability");
                }
                rank.checkHolds(view, peer, 0, 0, "what was got from rank " + peer);
            }
            rank.meet();
            rank.write(tensor.remote(rank.next()).slice(500, 7), rank.values(rank.next(), 500, 7, 12));
            rank.meet();
            rank.checkHolds(tensor.local().slice(500, 7), rank.rank(), 500, 12, "what a peer put");
            rank.meet();
        });
    }
}
