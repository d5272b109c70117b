package org.symmem.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.linux.UnixSocket;

/**
 * Measures what grows with the number of ranks: rendezvous and its messages, the barrier, the bandwidth of many senders, and what a rank
 * holds for its peers. One rank of it, in a process of its own, all on one host. Every method is collective; one thread.
 */
public final class GrowthProbe {
    private static final long TENSOR_BYTES = 1 << 20;
    private static final long PUT_BYTES = 16 << 20;
    private static final int PUTS = 4;
    private static final int ROUNDS = 5;
    private static final int WARM_UP = 2;
    private static final int MOST_MEETINGS = 30;
    private static final int LEAST_MEETINGS = 8;
    /** The rendezvous that come first run code that is not compiled yet. */
    private static final int MEETINGS_OF_WARM_UP = 4;
    private static final long ENOUGH_NANOS = 10_000_000_000L;
    private static final int TENSORS_HELD = 16;
    private static final int KIBI = 1024;

    private final ProcessGroup group;
    private final boolean everySender;
    private final Runnable step;
    private final List<Growth.Point> points = new ArrayList<>();

    private GrowthProbe(ProcessGroup group, boolean everySender, Runnable step) {
        this.group = group;
        this.everySender = everySender;
        this.step = step;
    }

    /**
     * @param group       the ranks
     * @param everySender whether bandwidth is measured with 1, 2, 4, … senders too, and not with all at once alone
     * @param step        called on each rank after every small step, so that whoever looks sees that it goes on
     * @return what rank 0 found; of no meaning on the others
     */
    public static List<Growth.Point> measure(ProcessGroup group, boolean everySender, Runnable step) throws IOException {
        GrowthProbe probe = new GrowthProbe(group, everySender, step);
        probe.run();
        return probe.points;
    }

    private void run() throws IOException {
        Held before = Held.now();
        try (SymmetricMemory memory = SymmetricMemory.open(group); Setting setting = new Setting(memory)) {
            step.run();
            Held opened = Held.now();
            held(setting, before, opened);
            rendezvous(setting);
            if (memory.capability(Capability.HOST_SIGNALS).supported() || memory.capability(Capability.STREAM_SIGNALS).supported()) {
                barrier(memory);
            }
            bandwidth(setting);
        }
    }

    private void found(String quantity, int ranks, double value, String unit) {
        points.add(new Growth.Point(quantity, ranks, value, unit));
    }

    private void found(String quantity, double value, String unit) {
        found(quantity, group.worldSize(), value, unit);
    }

    /** What this process holds. */
    private record Held(long descriptors, long mappings, long heapBytes) {
        static Held now() throws IOException {
            // What nothing refers to is not held.
            System.gc();
            try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"));
                    Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
                return new Held(descriptors.count(), maps.count(), ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            }
        }
    }

    private void held(Setting setting, Held before, Held opened) throws IOException {
        List<SymmetricTensor> tensors = new ArrayList<>();
        for (int i = 0; i < TENSORS_HELD; i++) {
            tensors.add(setting.tensor(TENSOR_BYTES));
            step.run();
        }
        Held all = Held.now();
        found("descriptors of a rank, group and " + TENSORS_HELD + " tensors", all.descriptors() - before.descriptors(), "descriptors");
        found("mappings of a rank, each tensor", (double) (all.mappings() - opened.mappings()) / TENSORS_HELD, "mappings");
        found("Java heap of a rank, group and " + TENSORS_HELD + " tensors", (double) (all.heapBytes() - before.heapBytes()) / KIBI, "KiB");
        setting.meet();
        tensors.forEach(SymmetricTensor::close);
    }

    private void rendezvous(Setting setting) {
        List<Double> micros = new ArrayList<>();
        List<Double> processor = new ArrayList<>();
        long messages = 0;
        long begun = System.nanoTime();
        for (int i = 0; agreed(i < MOST_MEETINGS && (i < LEAST_MEETINGS || System.nanoTime() - begun < ENOUGH_NANOS)); i++) {
            try (SymmetricTensor tensor = setting.memory().allocate(Shape.of(TENSOR_BYTES), DataType.UINT8)) {
                setting.meet();
                long sent = UnixSocket.messagesSent();
                long ran = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                long start = System.nanoTime();
                tensor.rendezvous();
                long end = System.nanoTime();
                if (i >= MEETINGS_OF_WARM_UP) {
                    micros.add((end - start) / 1e3);
                    processor.add((ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - ran) / 1e3);
                }
                messages = UnixSocket.messagesSent() - sent;
                setting.meet();
            }
        }
        found("rendezvous", median(micros), "µs");
        found("processor time of a rank in a rendezvous", median(processor), "µs");
        if (messages > 0) {
            found("messages that a rank sends in a rendezvous", messages, "messages");
        }
    }

    /** {@return rank 0's answer} */
    private boolean agreed(boolean more) {
        step.run();
        return group.allGather("growth", new byte[]{(byte) (more ? 1 : 0)}, Setting.PATIENCE).getFirst()[0] == 1;
    }

    private static double median(List<Double> values) {
        return Spread.of(values.stream().mapToDouble(Double::doubleValue).toArray()).median();
    }

    private void barrier(SymmetricMemory memory) {
        try (Measuring measuring = new Measuring(memory, new Schedule(ROUNDS, 50))) {
            Measurement barrier = measuring.measure(Operations.named("barrier"), 0);
            step.run();
            if (group.rank() == 0) {
                found("barrier", Spread.of(barrier.nanos()).median() / 1e3, "µs");
            }
        }
    }

    private void bandwidth(Setting setting) {
        int worldSize = group.worldSize();
        try (SymmetricTensor target = setting.tensor(PUT_BYTES); SymmetricTensor source = setting.tensor(PUT_BYTES)) {
            source.local().fill(group.rank() + 1);
            if (everySender) {
                for (int senders = 1; senders < worldSize; senders *= 2) {
                    found("some ranks of " + worldSize + " put at once, together", senders, gigabytes(setting, target, source, senders),
                            "GB/s");
                }
                found("some ranks of " + worldSize + " put at once, together", worldSize, gigabytes(setting, target, source, worldSize),
                        "GB/s");
            }
            found("all ranks put at once, together", gigabytes(setting, target, source, worldSize), "GB/s");
            setting.meet();
        }
    }

    /** {@return 10^9 bytes a second that the senders put together, from when the first began until the last was done} */
    private double gigabytes(Setting setting, SymmetricTensor target, SymmetricTensor source, int senders) {
        TensorView to = target.remote(setting.next());
        List<Double> found = new ArrayList<>();
        for (int round = 0; round < WARM_UP + ROUNDS; round++) {
            step.run();
            setting.meet();
            // The clock of the system is one for all processes of a host.
            long start = System.nanoTime();
            if (group.rank() < senders) {
                for (int i = 0; i < PUTS; i++) {
                    if (setting.onStream()) {
                        to.copyFrom(source.local(), setting.stream());
                    } else {
                        to.copyFrom(source.local());
                    }
                }
                if (setting.onStream()) {
                    setting.settle();
                }
            }
            byte[] own = ByteBuffer.allocate(2 * Long.BYTES).putLong(start).putLong(System.nanoTime()).array();
            List<ByteBuffer> times = group.allGather("putting", own, Setting.PATIENCE)
                    .subList(0, senders)
                    .stream()
                    .map(ByteBuffer::wrap)
                    .toList();
            long first = times.stream().mapToLong(ByteBuffer::getLong).min().orElseThrow();
            long last = times.stream().mapToLong(ByteBuffer::getLong).max().orElseThrow();
            if (round >= WARM_UP) {
                found.add((double) PUT_BYTES * PUTS * senders / (last - first));
            }
        }
        return median(found);
    }
}
