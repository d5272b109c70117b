package org.symmem.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.symmem.bench.Operations;
import org.symmem.bench.Report;
import org.symmem.bench.Schedule;
import org.symmem.bench.Sizes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures what symmetric memory costs. */
@Command(name = "bench", description = {
    "Measure what symmetric memory costs on this machine.",
    "%nStarts N processes, the ranks, that measure one operation after the other: after a warm-up, batches of calls, of each of which the time of one call is taken. "
            + "The table has the median of the batches and where the middle eight tenths lie; sizes are a rank's, GB/s are 10^9 bytes."
}, footerHeading = "%nExamples:%n", footer = {"  symmem bench --ops put,signal,barrier",
    "  symmem bench --ranks 2,4 --sizes 8..64MiB --json run.json"}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {
        "0:measured", "1:it failed", "2:an option is wrong"})
final class BenchCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private Job job;

    @Mixin
    private Emulated emulated;

    @Option(names = "--ranks", paramLabel = "N", split = ",", defaultValue = "2", description = "number of ranks, each a process; several numbers are measured one after the other (default: ${DEFAULT-VALUE})")
    private List<Integer> ranks;

    @Option(names = "--ops", paramLabel = "OP", split = ",", description = "what to measure: ${COMPLETION-CANDIDATES} (default: all)", completionCandidates = OperationNames.class)
    private List<String> operations = Operations.names();

    @Option(names = "--sizes", paramLabel = "SIZES", defaultValue = "8..1GiB", description = "sizes by commas; a range grows by four (default: ${DEFAULT-VALUE})")
    private String sizes;

    @Option(names = "--repetitions", paramLabel = "N", defaultValue = "30", description = "batches of each row (default: ${DEFAULT-VALUE})")
    private int repetitions;

    @Option(names = "--warm-up", paramLabel = "MS", defaultValue = "200", description = "milliseconds of batches that do not count, before each row (default: ${DEFAULT-VALUE})")
    private int warmUpMillis;

    @Option(names = "--json", paramLabel = "FILE", description = "write what was found to a file")
    private @Nullable Path json;

    /** For the help. */
    static final class OperationNames implements Iterable<String> {
        @Override
        public java.util.Iterator<String> iterator() {
            return Operations.names().iterator();
        }
    }

    @Override
    public Integer call() throws IOException {
        Duration patience = job.timeout();
        List<BenchJob> jobs = jobs(patience);
        job.requireBackend();
        String date = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        Report.Machine machine = ThisMachine.describe();
        for (BenchJob each : jobs) {
            each.round();
        }
        RankMessage.Opened opened = jobs.getFirst().opened();
        Report report = new Report(command(), date, machine, opened.backend(), opened.device(), Backends.emulated(), opened.timing(),
                jobs.stream().flatMap(each -> each.rows().stream()).toList(),
                jobs.stream().flatMap(each -> each.skipped().stream()).toList(), List.of());
        BenchTable.print(report, System.out);
        if (json != null) {
            new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(json.toFile(), report);
        }
        return 0;
    }

    private List<BenchJob> jobs(Duration patience) {
        try {
            operations.forEach(Operations::named);
            long[] bytes = Sizes.parse(sizes);
            Schedule schedule = new Schedule(repetitions, warmUpMillis);
            List<BenchJob> jobs = new ArrayList<>();
            for (int number : ranks) {
                jobs.add(new BenchJob(Ranks.checked(number), operations, bytes, schedule, patience));
            }
            return jobs;
        } catch (IllegalArgumentException e) {
            throw new UsageException(e.getMessage());
        }
    }

    private String command() {
        return Stream.concat(Stream.of("symmem"), spec.commandLine().getParseResult().originalArgs().stream())
                .reduce((one, next) -> one + " " + next)
                .orElseThrow();
    }
}
