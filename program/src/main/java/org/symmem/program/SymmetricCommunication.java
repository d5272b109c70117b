package org.symmem.program;

import java.time.Duration;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.collectives.Collective;
import org.symmem.collectives.Collectives;

/** Communication as copies to and signals among symmetric buffers. */
final class SymmetricCommunication implements Communication {
    private final Collectives collectives;

    SymmetricCommunication(SymmetricMemory memory) {
        this.collectives = Collectives.of(memory);
    }

    @Override
    public Round broadcast(SymmetricTensor target, int root) {
        return of(collectives.broadcast(target, root));
    }

    @Override
    public Round allGather(SymmetricTensor target) {
        return of(collectives.allGather(target));
    }

    private static Round of(Collective collective) {
        return new Round() {
            @Override
            public void post(TensorView source, Stream stream) {
                collective.post(source, stream);
            }

            @Override
            public void await(Stream stream, Duration timeout) {
                collective.await(stream, timeout);
            }
        };
    }

    @Override
    public void close() {
        collectives.close();
    }
}
