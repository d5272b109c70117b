package org.symmem.collectives;

import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.symmem.Multicast;
import org.symmem.TensorView;

/** All say that their targets are free; every rank writes its part to each, or once to all where there is a multicast address. */
final class AllGatherWrite implements Exchange {
    private final int[] peers;
    private final TensorView[] peerParts;
    private final TensorView[] parts;
    private final TensorView own;
    private final @Nullable Multicast multicast;
    private final long offsetBytes;

    AllGatherWrite(Ground ground, @Nullable Multicast multicast) {
        this.multicast = multicast;
        this.peers = ground.peers();
        this.own = ground.target().local().select(ground.rank());
        this.offsetBytes = ground.rank() * own.sizeBytes();
        // Each begins with another peer, so that no buffer is written by all at once.
        this.peerParts = IntStream.range(1, ground.worldSize())
                .map(i -> (ground.rank() + i) % ground.worldSize())
                .mapToObj(peer -> ground.target().remote(peer).select(ground.rank()))
                .toArray(TensorView[]::new);
        this.parts = Ground.with(peerParts, own);
    }

    @Override
    public void post(Lane lane, long round, @Nullable TensorView source) {
        TensorView data = Objects.requireNonNull(source);
        lane.signal(peers, READY);
        lane.await(peers, READY);
        boolean inPlace = data.isSameAs(own);
        if (multicast != null && !inPlace && data.isDense()) {
            lane.copy(multicast, offsetBytes, data);
        } else {
            lane.copy(inPlace ? peerParts : parts, data);
        }
        lane.signal(peers, DONE);
    }

    @Override
    public void await(Lane lane, long round) {
        lane.await(peers, DONE);
    }
}
