package org.symmem.program;

import java.time.Duration;
import org.symmem.Stream;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/** What posts and waits of a program become: there is one of it for each {@link Lowering}. */
interface Communication extends AutoCloseable {
    /** A broadcast or allgather to one target, run as often as wanted. */
    interface Round {
        /** Puts the first half on a stream. */
        void post(TensorView source, Stream stream);

        /** Puts the second half on the stream of the first. */
        void await(Stream stream, Duration timeout);
    }

    /** {@return the broadcast from a root to a target} Collective the first time. */
    Round broadcast(SymmetricTensor target, int root);

    /** {@return the allgather to a target} Collective the first time. */
    Round allGather(SymmetricTensor target);

    @Override
    void close();
}
