package org.symmem.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Signals;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/**
 * What the host backend costs with two ranks or more: the operations of the OpenSHMEM program beside which it is run, in the same
 * order and with the same sizes. One rank of it; started by a launcher. Prints {@code name value unit}, a line each, on rank 0.
 */
public final class HostBench {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int BIG_BYTES = 64 << 20;
    private static final int CALLS = 20_000;

    private final SymmetricMemory memory;
    private final int rank;
    private final int next;

    private HostBench(SymmetricMemory memory) {
        this.memory = memory;
        this.rank = memory.group().rank();
        this.next = (rank + 1) % memory.group().worldSize();
    }

    /** @param arguments none */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment(); SymmetricMemory memory = SymmetricMemory.open(group)) {
            new HostBench(memory).run();
        }
    }

    private void run() {
        rendezvous();
        try (SymmetricTensor tensor = memory.allocate(Shape.of(BIG_BYTES), DataType.UINT8); Arena arena = Arena.ofConfined()) {
            tensor.local().fill(0);
            tensor.rendezvous();
            MemorySegment source = arena.allocate(BIG_BYTES, 64);
            source.fill((byte) (rank + 1));
            barrier(tensor);
            signalRoundTrip(tensor);
            puts(tensor, source);
            bigCopy(tensor, source, arena);
        }
    }

    private void report(String name, double value, String unit) {
        if (rank == 0) {
            System.out.printf("%s %.3f %s%n", name, value, unit);
        }
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private void rendezvous() {
        double[] micros = new double[300];
        for (int i = 0; i < micros.length; i++) {
            long start = System.nanoTime();
            try (SymmetricTensor tensor = memory.allocate(Shape.of(BIG_BYTES), DataType.UINT8)) {
                tensor.rendezvous();
                micros[i] = (System.nanoTime() - start) / 1e3;
                tensor.signals().barrier(0, SOON);
                if (i == micros.length - 1) {
                    report("allocate_and_rendezvous_64MiB", median(Arrays.copyOfRange(micros, 100, micros.length)), "us");
                }
            }
        }
    }

    private void barrier(SymmetricTensor tensor) {
        Signals signals = tensor.signals();
        double[] nanos = new double[9];
        for (int round = 0; round < nanos.length; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                signals.barrier(0, SOON);
            }
            nanos[round] = (double) (System.nanoTime() - start) / CALLS;
        }
        report("barrier", median(Arrays.copyOfRange(nanos, 2, nanos.length)), "ns");
    }

    private void signalRoundTrip(SymmetricTensor tensor) {
        Signals signals = tensor.signals();
        double[] nanos = new double[9];
        for (int round = 0; round < nanos.length; round++) {
            signals.barrier(0, SOON);
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                if (rank == 0) {
                    signals.signal(1, 1);
                    signals.await(1, 1, SOON);
                } else if (rank == 1) {
                    signals.await(0, 1, SOON);
                    signals.signal(0, 1);
                }
            }
            nanos[round] = (double) (System.nanoTime() - start) / CALLS;
        }
        report("signal_round_trip", median(Arrays.copyOfRange(nanos, 2, nanos.length)), "ns");
    }

    private void puts(SymmetricTensor tensor, MemorySegment source) {
        for (int size = 8; size <= 8 << 20; size *= 16) {
            TensorView target = tensor.remote(next).slice(0, size);
            MemorySegment part = source.asSlice(0, size);
            int calls = size < 65_536 ? 200_000 : size < 4_000_000 ? 500 : 20;
            double[] nanos = new double[9];
            for (int round = 0; round < nanos.length; round++) {
                tensor.signals().barrier(0, SOON);
                long start = System.nanoTime();
                for (int i = 0; i < calls; i++) {
                    target.copyFrom(part);
                }
                nanos[round] = (double) (System.nanoTime() - start) / calls;
            }
            report("put_" + size + "B", median(Arrays.copyOfRange(nanos, 2, nanos.length)), "ns");
        }
        store(tensor);
    }

    /** A put of eight bytes as a user of plain addresses writes it. */
    private void store(SymmetricTensor tensor) {
        MemorySegment target = tensor.remote(next).segment();
        int calls = 1_000_000;
        double[] nanos = new double[9];
        for (int round = 0; round < nanos.length; round++) {
            tensor.signals().barrier(0, SOON);
            long start = System.nanoTime();
            for (int i = 0; i < calls; i++) {
                target.set(ValueLayout.JAVA_LONG, (i & 7) * 8L, i);
            }
            nanos[round] = (double) (System.nanoTime() - start) / calls;
        }
        report("store_8B", median(Arrays.copyOfRange(nanos, 2, nanos.length)), "ns");
    }

    /** To the peer and inside this process in turns, one rank at a time. */
    private void bigCopy(SymmetricTensor tensor, MemorySegment source, Arena arena) {
        MemorySegment plain = arena.allocate(BIG_BYTES, 64);
        plain.fill((byte) 1);
        TensorView target = tensor.remote(next);
        double[] peerGigabytes = new double[21];
        double[] plainGigabytes = new double[21];
        if (rank == 0) {
            for (int i = 0; i < peerGigabytes.length; i++) {
                // Whoever is second finds part of the source in the caches.
                if (i % 2 == 0) {
                    peerGigabytes[i] = gigabytes(() -> target.copyFrom(source));
                    plainGigabytes[i] = gigabytes(() -> MemorySegment.copy(source, 0, plain, 0, BIG_BYTES));
                } else {
                    plainGigabytes[i] = gigabytes(() -> MemorySegment.copy(source, 0, plain, 0, BIG_BYTES));
                    peerGigabytes[i] = gigabytes(() -> target.copyFrom(source));
                }
            }
        }
        tensor.signals().barrier(0, Duration.ofSeconds(60));
        report("copy_64MiB_to_peer", median(Arrays.copyOfRange(peerGigabytes, 3, 21)), "GB/s");
        report("copy_64MiB_in_process", median(Arrays.copyOfRange(plainGigabytes, 3, 21)), "GB/s");
    }

    private static double gigabytes(Runnable copy) {
        long start = System.nanoTime();
        copy.run();
        return (double) BIG_BYTES / (System.nanoTime() - start);
    }
}
