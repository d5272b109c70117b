package org.symmem.collectives;

import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.symmem.TensorView;

/** Every rank has its part in its own target and says so; all read the parts of all. */
final class AllGatherRead implements Exchange {
    private final int[] peers;
    private final TensorView own;
    private final int[] order;
    private final TensorView[] parts;
    private final TensorView[] places;

    AllGatherRead(Ground ground) {
        this.peers = ground.peers();
        this.own = ground.target().local().select(ground.rank());
        // Each begins with another peer, so that no buffer is read by all at once.
        this.order = IntStream.range(1, ground.worldSize()).map(i -> (ground.rank() + i) % ground.worldSize()).toArray();
        this.parts = IntStream.of(order).mapToObj(peer -> ground.target().remote(peer).select(peer)).toArray(TensorView[]::new);
        this.places = IntStream.of(order).mapToObj(peer -> ground.target().local().select(peer)).toArray(TensorView[]::new);
    }

    @Override
    public void post(Lane lane, long round, @Nullable TensorView source) {
        TensorView data = Objects.requireNonNull(source);
        if (!data.isSameAs(own)) {
            lane.copy(own, data);
        }
        lane.signal(peers, READY);
    }

    @Override
    public void await(Lane lane, long round) {
        lane.await(peers, READY);
        for (int i = 0; i < order.length; i++) {
            lane.copy(places[i], parts[i]);
        }
        lane.signal(peers, DONE);
        lane.await(peers, DONE);
    }
}
