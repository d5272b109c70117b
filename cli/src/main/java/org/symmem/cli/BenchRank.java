package org.symmem.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemory;
import org.symmem.bench.Measuring;
import org.symmem.bench.Operation;
import org.symmem.bench.Operations;
import org.symmem.bench.Schedule;
import org.symmem.bench.Sizes;
import org.symmem.rendezvous.LocalLauncher;

/** One rank of a benchmark, in a process of its own. */
final class BenchRank {
    private record Row(Operation operation, long bytes) {
        String name() {
            return operation.name() + (operation.sized() ? " of " + Sizes.text(bytes) : "");
        }
    }

    private BenchRank() {}

    /** @param arguments operations and sizes by commas, repetitions, milliseconds of warm-up */
    public static void main(String[] arguments) {
        LocalLauncher.endWithLauncher(() -> {});
        List<Row> rows = rows(List.of(arguments[0].split(",")), Sizes.parse(arguments[1]));
        Schedule schedule = new Schedule(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
        RankMain.run(() -> measure(rows, schedule));
    }

    /** {@return the number of rows that this many operations and sizes make} */
    static int rows(List<String> operations, int sizes) {
        return operations.stream().mapToInt(name -> Operations.named(name).sized() ? sizes : 1).sum();
    }

    private static List<Row> rows(List<String> operations, long[] sizes) {
        List<Row> rows = new ArrayList<>();
        for (String name : operations) {
            Operation operation = Operations.named(name);
            for (long bytes : operation.sized() ? sizes : new long[1]) {
                rows.add(new Row(operation, bytes));
            }
        }
        return rows;
    }

    private static void measure(List<Row> rows, Schedule schedule) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment();
                SymmetricMemory memory = SymmetricMemory.open(group);
                Measuring measuring = new Measuring(memory, schedule)) {
            boolean speaks = group.rank() == 0;
            if (speaks) {
                new RankMessage.Opened(memory.backend(), memory.device(), measuring.timing()).print();
            }
            for (int done = 0; done < rows.size(); done++) {
                Row row = rows.get(done);
                Optional<String> obstacle = measuring.obstacle(row.operation(), row.bytes());
                RankMessage message = obstacle.isPresent() ? new RankMessage.Skipped(row.name(), obstacle.get())
                        : new RankMessage.Measured(measuring.measure(row.operation(), row.bytes()));
                if (speaks) {
                    message.print();
                    new RankMessage.Progress(done + 1, rows.size()).print();
                }
            }
        }
    }
}
