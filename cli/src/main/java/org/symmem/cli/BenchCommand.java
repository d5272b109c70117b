package org.symmem.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.symmem.bench.Charts;
import org.symmem.bench.CheapCalls;
import org.symmem.bench.Growth;
import org.symmem.bench.Jmh;
import org.symmem.bench.Operations;
import org.symmem.bench.Page;
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
    "  symmem bench --ranks 2,4 --sizes 8..64MiB --json docs/benchmarks/run.json --chart docs/benchmarks",
    "  symmem bench --report docs/benchmarks docs/benchmarks.md --chart docs/benchmarks"}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {
        "0:measured", "1:it failed", "2:an option is wrong"})
final class BenchCommand implements Callable<Integer> {
    private static final ObjectWriter JSON = new ObjectMapper().writerWithDefaultPrettyPrinter();

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

    @Option(names = "--chart", paramLabel = "FOLDER", description = "draw what was found, as SVG and PNG; with --report, what was kept")
    private @Nullable Path charts;

    @Option(names = "--report", paramLabel = "FOLDER PAGE", arity = "2", description = "measure nothing; make the page out of the texts (*.md) and kept results (*.json) of the folder, in the order of their names")
    private List<Path> page = List.of();

    @Option(names = "--peers", paramLabel = "FOLDER", description = "run what stands beside us in turns and print ratios: memcpy, OpenSHMEM and Aeron beside host memory; raw driver calls, NVSHMEM and PyTorch beside a GPU's (PYTHON says which Python). The folder has oshmem_bench.c, vmm_limit.py, vmm_barrier.py, nvshmem_bench.py; what is not there is not run")
    private @Nullable Path peers;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3", description = "how often we and the peers are run in turns (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(names = "--growth", description = "measure instead how rendezvous, its messages, barriers, bandwidth and what a rank holds grow with --ranks (default then: 2,4,8,16,32,64), and what it would be for 1,000 ranks; takes minutes")
    private boolean growth;

    @Option(names = "--jmh", description = "measure the calls that must be cheap, and what they allocate, by JMH instead; takes two minutes")
    private boolean jmh;

    /** For the help. */
    static final class OperationNames implements Iterable<String> {
        @Override
        public java.util.Iterator<String> iterator() {
            return Operations.names().iterator();
        }
    }

    @Override
    public Integer call() throws IOException {
        if (charts != null && ModuleLayer.boot().findModule("java.desktop").isEmpty()) {
            throw new UsageException("--chart cannot draw: the Java runtime in use (" + System.getProperty("java.home")
                    + ") has no module java.desktop, as that of a bundle. Keep the result with --json, and draw it with --report and --chart where "
                    + "there is a whole JDK");
        }
        if (!page.isEmpty()) {
            if (charts != null) {
                for (var kept : Page.reports(page.getFirst()).entrySet()) {
                    draw(kept.getValue(), charts, kept.getKey());
                }
            }
            writePage(page.getFirst(), page.getLast());
            return 0;
        }
        if (jmh) {
            CheapCalls found = new CheapCalls(command(), now(), ThisMachine.describe(), Jmh.version(), Jmh.run());
            if (json != null) {
                JSON.writeValue(json.toFile(), found);
            }
            return 0;
        }
        if (growth) {
            measureGrowth();
            return 0;
        }
        if (rounds < 1 || rounds > 100) {
            throw new UsageException("--rounds is " + rounds + "; it is from 1 to 100");
        }
        Duration patience = job.timeout();
        List<BenchJob> jobs = jobs(patience);
        job.requireBackend();
        String date = now();
        Report.Machine machine = ThisMachine.describe();
        List<Report.Peer> beside = new ArrayList<>();
        for (BenchJob each : jobs) {
            if (peers == null) {
                each.round();
            } else {
                beside.addAll(new BesidePeers(each, peers, Sizes.parse(sizes), rounds).measure());
            }
        }
        RankMessage.Opened opened = jobs.getFirst().opened();
        Report report = new Report(command(), date, machine, opened.backend(), opened.device(), Backends.emulated(), opened.timing(),
                jobs.stream().flatMap(each -> each.rows().stream()).toList(),
                jobs.stream().flatMap(each -> each.skipped().stream()).toList(), beside);
        BenchTable.print(report, System.out);
        if (json != null) {
            JSON.writeValue(json.toFile(), report);
        }
        if (charts != null) {
            draw(report, charts, json == null ? "bench" : json.getFileName().toString().replaceFirst("\\.json$", ""));
        }
        return 0;
    }

    private void measureGrowth() throws IOException {
        List<Integer> worlds = ranks.size() == 1 ? List.of(2, 4, 8, 16, 32, 64)
                : ranks.stream().map(Ranks::checked).sorted().distinct().toList();
        Duration patience = job.timeout();
        job.requireBackend();
        Growth grown = new GrowthJob(worlds, patience).measure(command(), now(), ThisMachine.describe());
        BenchTable.print(grown, System.out);
        if (json != null) {
            JSON.writeValue(json.toFile(), grown);
        }
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static void writePage(Path folder, Path target) throws IOException {
        try {
            Page.write(folder, target);
        } catch (IllegalArgumentException | NoSuchFileException e) {
            throw new UsageException("the page cannot be made: " + e.getMessage());
        }
    }

    private static void draw(Report report, Path folder, String stem) throws IOException {
        try {
            new Charts(report, folder, stem).draw().forEach(file -> System.err.println("chart: " + file));
        } catch (LinkageError | InternalError e) {
            throw new FailureException(1, "charts cannot be drawn: this machine lacks what java.desktop needs (" + e
                    + "). Draw where there are fontconfig, freetype and a font");
        }
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
