package org.symmem.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.symmem.DataType;
import org.symmem.NativeCollectives;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/** A rank whose communicator breaks, or whose symmetric address space ends, while it has tensors. */
final class TroubleRank {
    private static final Duration SOON = Duration.ofSeconds(20);

    private TroubleRank() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
            try (SymmetricMemory memory = SymmetricMemory.open(group)) {
                switch (arguments[0]) {
                    case "full" -> full(memory);
                    case "late" -> late(memory);
                    default -> said(() -> shared(memory, 10).close());
                }
            } catch (RuntimeException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
        System.out.println(Alive.inWords());
    }

    private static SymmetricTensor shared(SymmetricMemory memory, float value) {
        SymmetricTensor tensor = memory.allocate(Shape.of(1000), DataType.FLOAT32);
        try {
            tensor.local().fill(value + memory.group().rank());
            tensor.rendezvous();
            return tensor;
        } catch (RuntimeException e) {
            tensor.close();
            throw e;
        }
    }

    private static double peersLast(SymmetricMemory memory, SymmetricTensor tensor) {
        tensor.signals().barrier(0, SOON);
        return tensor.remote(1 - memory.group().rank()).get(999);
    }

    private static void full(SymmetricMemory memory) {
        List<SymmetricTensor> tensors = new ArrayList<>();
        try {
            while (tensors.size() < 100) {
                tensors.add(shared(memory, 10));
            }
            System.out.println("it never ends");
        } catch (RuntimeException e) {
            System.out.println(tensors.size() + " fit; then: " + e.getMessage());
        }
        System.out.println("those before: " + peersLast(memory, tensors.getLast()));
        tensors.removeFirst().close();
        tensors.add(shared(memory, 20));
        System.out.println("one more after one was closed: " + peersLast(memory, tensors.getLast()));
        memory.group().allGather("the end of the test", new byte[0], SOON);
        tensors.forEach(SymmetricTensor::close);
    }

    /** Rank 1 does not come to a broadcast. The tensor is alive until the symmetric memory is closed. */
    private static void late(SymmetricMemory memory) {
        SymmetricTensor tensor = shared(memory, 10);
        Stream stream = memory.newStream();
        TensorView before = tensor.remote(1 - memory.group().rank());
        peersLast(memory, tensor);
        NativeCollectives collectives = memory.nativeCollectives().orElseThrow();
        if (memory.group().rank() == 0) {
            said(() -> {
                collectives.broadcast(tensor.local(), 0, stream);
                stream.synchronize(SOON);
            });
            System.out.println("the view of before: " + before.get(999) + ", a new one: " + tensor.remote(1).get(999));
            said(() -> shared(memory, 20));
            said(() -> collectives.broadcast(tensor.local(), 0, stream));
        }
        memory.group().allGather("rank 0 has seen it all", new byte[0], SOON);
        tensor.signals().barrier(1, SOON);
        System.out.println("signals work");
        memory.close();
        said(() -> before.get(999));
    }

    private static void said(Runnable action) {
        try {
            action.run();
            System.out.println("no error");
        } catch (RuntimeException e) {
            System.out.println(e.getMessage());
        }
    }
}
