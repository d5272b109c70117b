package org.symmem.examples;

import java.time.Duration;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;

/** Each rank writes into its own buffer, and sums all buffers by plain loads. Start it as several ranks. */
public final class Embedding {
    private Embedding() {}

    /** @param arguments none; the launcher's variables say which rank this is */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment();
                SymmetricMemory memory = SymmetricMemory.open(group);
                SymmetricTensor tensor = memory.allocate(Shape.of(1024), DataType.FLOAT32)) {
            tensor.local().fill(group.rank() + 1);
            tensor.rendezvous();
            tensor.signals().barrier(0, Duration.ofSeconds(10));
            double sum = 0;
            for (int peer = 0; peer < group.worldSize(); peer++) {
                sum += tensor.remote(peer).get(1023);
            }
            // Nobody goes before all have read.
            tensor.signals().barrier(0, Duration.ofSeconds(10));
            System.out.println("rank " + group.rank() + " of " + group.worldSize() + ": the sum of all ranks is " + sum);
        }
    }
}
