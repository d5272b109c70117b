package org.symmem.interop;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;

/**
 * A rank that knows nothing but what its launcher's variables say: it meets the others, reads their memory, and prints one line,
 * {@code met rank 1/2 group … backend … agent store … pids …}. With the argument {@code --fail-first} rank 1 then ends with code 3, unless it has
 * been restarted: so a launcher that restarts shows whether the second start meets apart from the first.
 */
public final class LauncherRank {
    private static final Duration SOON = Duration.ofSeconds(20);

    private LauncherRank() {}

    /** @param arguments {@code --fail-first}, or none */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment(); SymmetricMemory memory = SymmetricMemory.open(group)) {
            String pids = pids(group);
            readEachOther(memory);
            System.out.println("met rank " + group.rank() + "/" + group.worldSize() + " group " + group.name() + " backend "
                    + memory.backend() + " agent store "
                    + System.getenv().getOrDefault("TORCHELASTIC_USE_AGENT_STORE", "none") + " pids " + pids);
            // A launcher ends the others when one fails: none may fail before all have said that they met.
            group.allGather("having met", new byte[0], SOON);
        }
        boolean restarted = !System.getenv().getOrDefault("TORCHELASTIC_RESTART_COUNT", "0").equals("0");
        if (List.of(arguments).contains("--fail-first") && !restarted && System.getenv().getOrDefault("RANK", "").equals("1")) {
            System.exit(3);
        }
    }

    private static String pids(ProcessGroup group) {
        byte[] own = Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.UTF_8);
        return group.allGather("telling the process ids", own, SOON)
                .stream()
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                .collect(Collectors.joining(","));
    }

    private static void readEachOther(SymmetricMemory memory) {
        int rank = memory.group().rank();
        try (SymmetricTensor tensor = memory.allocate(Shape.of(1024), DataType.FLOAT32)) {
            tensor.local().fill(100 + rank);
            tensor.rendezvous();
            tensor.signals().barrier(0, SOON);
            for (int peer = 0; peer < memory.group().worldSize(); peer++) {
                double read = tensor.remote(peer).get(1023);
                if (read != 100 + peer) {
                    throw new IllegalStateException(
                            "rank " + rank + " reads " + read + " from rank " + peer + " instead of " + (100 + peer));
                }
            }
            tensor.signals().barrier(0, SOON);
        }
    }
}
