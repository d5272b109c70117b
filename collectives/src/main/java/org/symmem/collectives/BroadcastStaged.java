package org.symmem.collectives;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.symmem.TensorView;

/**
 * The root writes into the peers' slots in turn, at most as many rounds ahead as there are slots; a peer copies from its slot and
 * says that it is free.
 */
final class BroadcastStaged implements Exchange {
    static final int SLOTS = 4;

    private final Ground ground;
    private final int[] peers;
    private final int[] root;
    private final TensorView[][] peerSlots;
    private final TensorView[] slots;

    BroadcastStaged(Ground ground) {
        this.ground = ground;
        this.peers = ground.peers();
        this.root = new int[]{ground.root()};
        this.peerSlots = IntStream.range(0, SLOTS)
                .mapToObj(slot -> Arrays.stream(ground.peerStaging()).map(all -> all.select(slot)).toArray(TensorView[]::new))
                .toArray(TensorView[][]::new);
        this.slots = IntStream.range(0, SLOTS).mapToObj(ground.tokens().local()::select).toArray(TensorView[]::new);
    }

    @Override
    public void post(Lane lane, long round, @Nullable TensorView source) {
        if (!ground.isRoot()) {
            return;
        }
        TensorView data = Objects.requireNonNull(source);
        if (round >= SLOTS) {
            lane.await(peers, READY);
        }
        lane.copy(peerSlots[(int) (round % SLOTS)], data);
        lane.signal(peers, DONE);
        if (!data.isSameAs(ground.target().local())) {
            lane.copy(ground.target().local(), data);
        }
    }

    @Override
    public void await(Lane lane, long round) {
        if (!ground.isRoot()) {
            lane.await(root, DONE);
            lane.copy(ground.target().local(), slots[(int) (round % SLOTS)]);
            lane.signal(root, READY);
        }
    }
}
