package org.symmem.program;

import java.time.Duration;
import org.symmem.NativeCollectives;
import org.symmem.Stream;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/** Communication by the collectives of the backend's own library, which does all of it in the order of the stream when it is posted. */
final class NativeCommunication implements Communication {
    private final NativeCollectives collectives;
    private final int rank;

    NativeCommunication(NativeCollectives collectives, int rank) {
        this.collectives = collectives;
        this.rank = rank;
    }

    @Override
    public Round broadcast(SymmetricTensor target, int root) {
        return new Round() {
            @Override
            public void post(TensorView source, Stream stream) {
                if (rank == root) {
                    target.local().copyFrom(source, stream);
                }
                collectives.broadcast(target.local(), root, stream);
            }

            @Override
            public void await(Stream stream, Duration timeout) {
                // What is put on the stream from now on comes after it by itself.
            }
        };
    }

    @Override
    public Round allGather(SymmetricTensor target) {
        return new Round() {
            @Override
            public void post(TensorView source, Stream stream) {
                collectives.allGather(source, target.local(), stream);
            }

            @Override
            public void await(Stream stream, Duration timeout) {
                // As above.
            }
        };
    }

    /** The collectives are the symmetric memory's. */
    @Override
    public void close() {}
}
