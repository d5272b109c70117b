package org.symmem.collectives;

import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.symmem.TensorView;

/**
 * Every rank writes its part into the peers' slots, of two by turns; a rank copies the whole from its slot. Two suffice without
 * anybody saying that a slot is free: who posts round n+1 has awaited round n, so all have posted round n, and before that they
 * had copied round n-1 from the slot that n+1 uses.
 */
final class AllGatherStaged implements Exchange {
    static final int SLOTS = 2;

    private final Ground ground;
    private final int[] peers;
    private final TensorView[][] parts;
    private final TensorView[] slots;

    AllGatherStaged(Ground ground) {
        this.ground = ground;
        this.peers = ground.peers();
        this.parts = IntStream.range(0, SLOTS)
                .mapToObj(slot -> IntStream.range(0, ground.worldSize())
                        .map(i -> (ground.rank() + 1 + i) % ground.worldSize())
                        .mapToObj(rank -> ground.tokens().remote(rank).select(slot).select(ground.rank()))
                        .toArray(TensorView[]::new))
                .toArray(TensorView[][]::new);
        this.slots = IntStream.range(0, SLOTS).mapToObj(ground.tokens().local()::select).toArray(TensorView[]::new);
    }

    @Override
    public void post(Lane lane, long round, @Nullable TensorView source) {
        TensorView data = Objects.requireNonNull(source);
        lane.copy(parts[(int) (round % SLOTS)], data);
        lane.signal(peers, DONE);
    }

    @Override
    public void await(Lane lane, long round) {
        lane.await(peers, DONE);
        lane.copy(ground.target().local(), slots[(int) (round % SLOTS)]);
    }
}
