package org.symmem.nccl;

import java.time.Duration;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;

/** A rank that shares one tensor, or says why it cannot. */
final class OpeningRank {
    private OpeningRank() {}

    /** @param arguments any, where a library is unusable, so that it is not asked what is alive */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment(); SymmetricMemory memory = SymmetricMemory.open(group)) {
            SymmetricTensor tensor = memory.allocate(Shape.of(1000), DataType.FLOAT32);
            tensor.local().fill(group.rank() + 7f);
            tensor.rendezvous();
            tensor.signals().barrier(0, Duration.ofSeconds(10));
            System.out.println("peer has " + tensor.remote((group.rank() + 1) % group.worldSize()).get(999));
            tensor.signals().barrier(0, Duration.ofSeconds(10));
            tensor.close();
        } catch (RuntimeException e) {
            System.out.println("refused: " + e.getMessage());
        }
        if (arguments.length == 0) {
            System.out.println(Alive.inWords());
        }
    }
}
