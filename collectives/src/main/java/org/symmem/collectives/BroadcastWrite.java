package org.symmem.collectives;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.symmem.Multicast;
import org.symmem.TensorView;

/** Peers say that their targets are free; the root writes to each, or once to all where it has a multicast address. */
final class BroadcastWrite implements Exchange {
    private final Ground ground;
    private final int[] peers;
    private final int[] root;
    private final TensorView[] peerTargets;
    private final TensorView[] targets;
    private final @Nullable Multicast multicast;

    BroadcastWrite(Ground ground, @Nullable Multicast multicast) {
        this.multicast = multicast;
        this.ground = ground;
        this.peers = ground.peers();
        this.root = new int[]{ground.root()};
        this.peerTargets = ground.peerTargets();
        this.targets = Ground.with(peerTargets, ground.target().local());
    }

    @Override
    public void post(Lane lane, long round, @Nullable TensorView source) {
        if (!ground.isRoot()) {
            lane.signal(root, READY);
            return;
        }
        TensorView data = Objects.requireNonNull(source);
        lane.await(peers, READY);
        boolean inPlace = data.isSameAs(ground.target().local());
        if (multicast != null && !inPlace && data.isDense()) {
            lane.copy(multicast, 0, data);
        } else {
            lane.copy(inPlace ? peerTargets : targets, data);
        }
        lane.signal(peers, DONE);
    }

    @Override
    public void await(Lane lane, long round) {
        if (!ground.isRoot()) {
            lane.await(root, DONE);
        }
    }
}
