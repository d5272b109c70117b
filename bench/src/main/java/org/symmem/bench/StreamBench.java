package org.symmem.bench;

import java.time.Duration;
import java.util.Arrays;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/**
 * What allocation, copies, signals and barriers on streams cost with any backend: the work of the raw driver programs beside which
 * it is run on a GPU host. One rank of it; started by a launcher. Prints {@code name value unit}, a line each, on rank 0.
 */
public final class StreamBench {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final long MIB = 1 << 20;

    private final SymmetricMemory memory;
    private final int rank;
    private final int next;

    private StreamBench(SymmetricMemory memory) {
        this.memory = memory;
        this.rank = memory.group().rank();
        this.next = (rank + 1) % memory.group().worldSize();
    }

    /** @param arguments none */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment(); SymmetricMemory memory = SymmetricMemory.open(group)) {
            new StreamBench(memory).run();
        }
    }

    private void run() {
        for (long size : new long[]{2 * MIB, 256 * MIB}) {
            allocation(size);
        }
        try (SymmetricTensor tensor = memory.allocate(Shape.of(256 * MIB), DataType.UINT8);
                SymmetricTensor source = memory.allocate(Shape.of(256 * MIB), DataType.UINT8);
                Stream stream = memory.newStream()) {
            tensor.rendezvous();
            source.local().fill(rank + 1);
            warmUp(tensor, source, stream);
            for (int senders : new int[]{1, 2}) {
                for (long size : new long[]{2 * MIB, 64 * MIB, 256 * MIB}) {
                    copies(tensor, source, stream, senders, size);
                }
            }
            signalRoundTrip(tensor, stream);
            barriers(tensor, stream);
        }
    }

    private void report(String name, double value, String unit) {
        if (rank == 0) {
            System.out.printf("%s %.2f %s%n", name, value, unit);
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private void allocation(long size) {
        int rounds = 300;
        double[] allocate = new double[rounds];
        double[] rendezvous = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            long start = System.nanoTime();
            try (SymmetricTensor tensor = memory.allocate(Shape.of(size), DataType.UINT8)) {
                long middle = System.nanoTime();
                tensor.rendezvous();
                allocate[i] = (middle - start) / 1e3;
                rendezvous[i] = (System.nanoTime() - middle) / 1e3;
                tensor.signals().barrier(0, SOON);
            }
        }
        report("allocate_" + size / MIB + "MiB", median(Arrays.copyOfRange(allocate, rounds - 100, rounds)), "us");
        report("rendezvous_" + size / MIB + "MiB", median(Arrays.copyOfRange(rendezvous, rounds - 100, rounds)), "us");
    }

    /** So that the calls are compiled: what is measured is the device's time and the driver's. */
    private void warmUp(SymmetricTensor tensor, SymmetricTensor source, Stream stream) {
        TensorView to = tensor.remote(next).slice(0, 4096);
        TensorView from = source.local().slice(0, 4096);
        for (int i = 0; i < 20_000; i++) {
            to.copyFrom(from, stream);
            if (i % 100 == 0) {
                stream.synchronize(SOON);
            }
        }
        for (int i = 0; i < 2_000; i++) {
            tensor.signals().barrier(2, stream, SOON);
            if (i % 100 == 0) {
                stream.synchronize(SOON);
            }
        }
        stream.synchronize(SOON);
    }

    private void copies(SymmetricTensor tensor, SymmetricTensor source, Stream stream, int senders, long size) {
        TensorView to = tensor.remote(next).slice(0, size);
        TensorView from = source.local().slice(0, size);
        int copies = 10;
        double[] gigabytes = new double[7];
        for (int round = 0; round < gigabytes.length; round++) {
            memory.group().allGather("copying", new byte[0], SOON);
            if (rank < senders) {
                to.copyFrom(from, stream);
                stream.synchronize(SOON);
                long start = System.nanoTime();
                for (int i = 0; i < copies; i++) {
                    to.copyFrom(from, stream);
                }
                stream.synchronize(SOON);
                gigabytes[round] = (double) size * copies / (System.nanoTime() - start);
            }
        }
        report("copy_to_peer_" + size / MIB + "MiB_senders" + senders, median(Arrays.copyOfRange(gigabytes, 2, 7)), "GB/s");
    }

    private void signalRoundTrip(SymmetricTensor tensor, Stream stream) {
        int trips = 200;
        double[] micros = new double[7];
        for (int round = 0; round < micros.length; round++) {
            memory.group().allGather("signalling", new byte[0], SOON);
            long start = System.nanoTime();
            for (int i = 0; i < trips; i++) {
                if (rank == 0) {
                    tensor.signals().signal(1, 0, stream);
                    tensor.signals().await(1, 0, stream, SOON);
                } else if (rank == 1) {
                    tensor.signals().await(0, 0, stream, SOON);
                    tensor.signals().signal(0, 0, stream);
                }
            }
            stream.synchronize(SOON);
            micros[round] = (System.nanoTime() - start) / 1e3 / trips;
        }
        report("stream_signal_round_trip", median(Arrays.copyOfRange(micros, 2, 7)), "us");
    }

    private void barriers(SymmetricTensor tensor, Stream stream) {
        int number = 500;
        double[] micros = new double[7];
        for (int round = 0; round < micros.length; round++) {
            memory.group().allGather("meeting", new byte[0], SOON);
            long start = System.nanoTime();
            for (int i = 0; i < number; i++) {
                tensor.signals().barrier(1, stream, SOON);
            }
            stream.synchronize(SOON);
            micros[round] = (System.nanoTime() - start) / 1e3 / number;
        }
        report("stream_barrier", median(Arrays.copyOfRange(micros, 2, 7)), "us");
    }
}
