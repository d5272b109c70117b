package org.symmem.collectives;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/**
 * What an exchange works on.
 *
 * @param target where the data shall be
 * @param tokens a tensor of the collective's own: its signals are the tokens, its memory is for staging
 * @param root   of a broadcast
 */
record Ground(SymmetricTensor target, SymmetricTensor tokens, int root) {
    int rank() {
        return target.memory().group().rank();
    }

    int worldSize() {
        return target.memory().group().worldSize();
    }

    boolean isRoot() {
        return rank() == root;
    }

    int[] peers() {
        return IntStream.range(0, worldSize()).filter(peer -> peer != rank()).toArray();
    }

    /** {@return each peer's target, in the order of {@link #peers()}} */
    TensorView[] peerTargets() {
        return IntStream.of(peers()).mapToObj(target::remote).toArray(TensorView[]::new);
    }

    /** {@return the views and one more, the last} */
    static TensorView[] with(TensorView[] views, TensorView last) {
        TensorView[] all = Arrays.copyOf(views, views.length + 1);
        all[views.length] = last;
        return all;
    }

    /** {@return each peer's tokens' memory, in the order of {@link #peers()}} */
    TensorView[] peerStaging() {
        return IntStream.of(peers()).mapToObj(tokens::remote).toArray(TensorView[]::new);
    }
}
