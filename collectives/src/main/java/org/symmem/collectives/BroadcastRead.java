package org.symmem.collectives;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.symmem.TensorView;

/** The root has the data in its own target and says so; all peers read it at once. */
final class BroadcastRead implements Exchange {
    private final Ground ground;
    private final int[] peers;
    private final int[] root;
    private final TensorView rootsTarget;

    BroadcastRead(Ground ground) {
        this.ground = ground;
        this.peers = ground.peers();
        this.root = new int[]{ground.root()};
        this.rootsTarget = ground.target().remote(ground.root());
    }

    @Override
    public void post(Lane lane, long round, @Nullable TensorView source) {
        if (ground.isRoot()) {
            TensorView data = Objects.requireNonNull(source);
            if (!data.isSameAs(rootsTarget)) {
                lane.copy(rootsTarget, data);
            }
            lane.signal(peers, READY);
        }
    }

    @Override
    public void await(Lane lane, long round) {
        if (ground.isRoot()) {
            lane.await(peers, DONE);
        } else {
            lane.await(root, READY);
            lane.copy(ground.target().local(), rootsTarget);
            lane.signal(root, DONE);
        }
    }
}
