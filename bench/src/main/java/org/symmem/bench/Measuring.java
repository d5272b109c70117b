package org.symmem.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.symmem.Capability;
import org.symmem.Support;
import org.symmem.SymmetricMemory;

/** Measures operations on all ranks of a group. Every method is collective but for {@link #timing()}; one thread. */
public final class Measuring implements AutoCloseable {
    private final Setting setting;
    private final Schedule schedule;

    /**
     * @param memory   open on all ranks, and longer than this
     * @param schedule the same on all ranks
     */
    public Measuring(SymmetricMemory memory, Schedule schedule) {
        this.setting = new Setting(memory);
        this.schedule = schedule;
    }

    /** {@return how a batch is timed, in words} */
    public String timing() {
        return setting.timing();
    }

    /** {@return why the operation cannot be measured with that size here; the same on all ranks} */
    public Optional<String> obstacle(Operation operation, long bytes) {
        if (setting.worldSize() < operation.leastRanks()) {
            return Optional.of("it needs " + operation.leastRanks() + " ranks");
        }
        for (Capability capability : operation.capabilities()) {
            if (setting.memory().capability(capability) instanceof Support.No no) {
                return Optional.of("backend " + setting.memory().backend() + " has no " + capability + ": " + no.reason());
            }
        }
        return agreed(lackOfMemory(operation.neededBytes(setting.worldSize(), bytes)));
    }

    /** All buffers of a host backend come out of one memory, and a process that asks for too much is killed. */
    private Optional<String> lackOfMemory(long neededBytes) {
        if (setting.onStream()) {
            return Optional.empty();
        }
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            long available = lines.filter(line -> line.startsWith("MemAvailable:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")) << 10)
                    .findFirst()
                    .orElse(Long.MAX_VALUE);
            return neededBytes < available / 10 * 9 ? Optional.empty()
                    : Optional.of("the ranks need " + (neededBytes >> 20) + " MiB together, of which the machine has "
                            + (available >> 20) + " free");
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** {@return rank 0's answer} */
    private Optional<String> agreed(Optional<String> answer) {
        byte[] own = answer.orElse("").getBytes(StandardCharsets.UTF_8);
        String first = new String(
                setting.memory().group().allGather("obstacle of the benchmark", own, Setting.PATIENCE).getFirst(), StandardCharsets.UTF_8);
        return Optional.of(first).filter(text -> !text.isEmpty());
    }

    /**
     * @param operation one without an obstacle
     * @param bytes     the size; of no meaning where the operation has none
     * @return what rank 0 measured; on the other ranks without times
     */
    public Measurement measure(Operation operation, long bytes) {
        Pace pace = new Pace(schedule);
        try (Work work = operation.preparation().prepare(setting, bytes)) {
            for (int calls = agreed(pace); calls > 0; calls = agreed(pace)) {
                long nanos = work.nanos(calls);
                if (setting.rank() == 0) {
                    pace.took(nanos);
                }
            }
        }
        return new Measurement(operation.name(), operation.sized() ? bytes : 0, pace.calls(), pace.samples());
    }

    /** {@return the number of calls that rank 0 wants next} */
    private int agreed(Pace pace) {
        byte[] own = ByteBuffer.allocate(Integer.BYTES).putInt(pace.next()).array();
        return ByteBuffer.wrap(setting.memory().group().allGather("pace of the benchmark", own, Setting.PATIENCE).getFirst()).getInt();
    }

    @Override
    public void close() {
        setting.close();
    }
}
