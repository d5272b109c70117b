package org.symmem.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.symmem.Availability;
import org.symmem.ProcessGroup;
import org.symmem.ProviderReport;
import org.symmem.SymmetricMemory;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.rendezvous.LocalLauncher;
import org.symmem.rendezvous.ProcessGroups;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The main job: ranks share a file through symmetric memory, and each verifies all of it. */
@Command(name = "run", description = {
    "Share a file through symmetric memory.",
    "%nStarts N processes, the ranks. Each loads its part of the file into its own buffer. They exchange handles once (the rendezvous) and meet at a barrier. "
            + "Then every rank reads the whole file twice, without a message: through the contiguous view, which shows all buffers side by side, and from each peer's buffer. "
            + "It has verified when the SHA-256 of both is that of the input."
}, footerHeading = "%nExamples:%n", footer = {
    "  symmem run                                       2 ranks, a file of Java's",
    "  symmem run --ranks 4 --input big.bin             a file of yours",
    "  symmem run --input big.bin --output copy.bin     what rank 0 read, written",
    "%nThe table goes to standard output, everything else to standard error. GB/s (10^9 bytes) are those of the copies out of symmetric memory, "
            + "the first touch of each page included, the time for SHA-256 not; the seconds are a rank's whole work. "
            + "RSS is the most that was resident, the shared pages that the rank touched among it."
}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {"0:every rank verified",
    "1:it failed; nothing is left behind, and the output is as it was before", "2:an option is wrong",
    "128+n:a rank was ended by signal n, for instance 137 by kill -9"})
final class RunCommand implements Callable<Integer> {
    /** The heap holds next to nothing; SHA-256 is fast only when the second compiler uses the processor's instructions. */
    private static final List<String> RANK_FLAGS = List.of("-Xmx32m", "-Xss512k", "-XX:ReservedCodeCacheSize=24m", "-XX:-UsePerfData");
    /** Ranks that wait for each other give up first, for they know what for. */
    private static final Duration BEFORE_RANKS_ARE_ENDED = Duration.ofSeconds(5);

    /** What fewer bytes take is the time of the first call, not of a copy. */
    private static final long TOO_FEW_BYTES = 1 << 20;

    @Mixin
    private Ranks ranks;

    @Mixin
    private Emulated emulated;

    @Option(names = "--backend", paramLabel = "B", description = "which backend's memory; symmem info lists them (default: the best that all ranks share)")
    private @Nullable String backend;

    @Option(names = "--input", paramLabel = "FILE", description = "what to share (default: the largest file of the Java that runs this)")
    private @Nullable Path input;

    @Option(names = "--output", paramLabel = "FILE", description = "what rank 0 writes; it appears when every rank has verified")
    private @Nullable Path output;

    @Option(names = "--timeout", paramLabel = "SECONDS", description = "how long ranks wait for each other, and how long the run may go without progress (default: 60)")
    private @Nullable Double timeout;

    private final Map<Integer, RankMessage.Result> results = new TreeMap<>();
    private final Map<Integer, RankMessage.Failure> failures = new TreeMap<>();

    @Override
    public Integer call() throws Exception {
        int number = ranks.number();
        Duration patience = timeout();
        InputFile source = input == null ? InputFile.ofThisJava() : InputFile.at(input);
        requireBackend();
        try (OutputFile target = output == null ? null : OutputFile.at(output, source)) {
            FutureTask<String> sha256 = new FutureTask<>(source::sha256);
            Thread.ofPlatform().daemon().name("symmem-sha256").start(sha256);
            LocalLauncher.Outcome outcome = launch(number, source, target, patience);
            if (outcome.failedRank().isPresent()) {
                throw new FailureException(outcome.exitCode(), failureOf(outcome));
            }
            String expected = resultOf(sha256);
            source.requireUnchanged();
            boolean verified = print(source, number, expected);
            if (!verified) {
                throw new FailureException(1, "not every rank has read what the input holds: see the last column"
                        + (target == null ? "" : ". The output was not written"));
            }
            if (target != null) {
                target.complete();
            }
            return 0;
        }
    }

    private Duration timeout() {
        if (timeout != null) {
            if (!(timeout > 0 && timeout <= 1e6)) {
                throw new UsageException("--timeout is " + timeout + "; it is a number of seconds above 0, for instance 60 or 2.5");
            }
            // The option is stronger than the variable, and ranks get this process's properties.
            System.setProperty("symmem.timeout", timeout.toString());
        }
        try (ProcessGroup alone = ProcessGroups.alone()) {
            return alone.timeout();
        }
    }

    /** A wrong name is said once, by this process, and not by every rank. */
    private void requireBackend() {
        if (backend != null) {
            System.setProperty("symmem.backend", backend);
        }
        String asked = Backends.askedFor().map(Backends.Request::backend).orElse(null);
        if (asked == null) {
            return;
        }
        List<ProviderReport> known = SymmetricMemory.providers();
        ProviderReport report = known.stream()
                .filter(provider -> provider.name().equals(asked))
                .findFirst()
                .orElseThrow(() -> new UsageException("backend \"" + asked + "\" is unknown; known are "
                        + known.stream().map(ProviderReport::name).collect(Collectors.joining(", "))
                        + ". symmem info says what each needs"));
        if (report.availability() instanceof Availability.Unavailable no) {
            throw new FailureException(1, "backend " + asked + " is unavailable on this host: " + no.reason());
        }
    }

    private LocalLauncher.Outcome launch(int number, InputFile source, @Nullable OutputFile target, Duration patience) throws IOException {
        List<String> command = JavaCommand.of(RANK_FLAGS, RunRank.class,
                List.of(source.path().toString(), Long.toString(source.sizeBytes()), target == null ? "" : target.partial().toString()));
        AtomicReference<String> stopped = new AtomicReference<>();
        try (RankProgress progress = new RankProgress(number, source.sizeBytes())) {
            Thread watch = watchOver(progress, patience.plus(BEFORE_RANKS_ARE_ENDED), stopped);
            try {
                return new LocalLauncher(number, Map.of(), (rank, line, isError) -> hear(rank, line, progress)).run(rank -> command);
            } finally {
                watch.interrupt();
            }
        } catch (InterruptedException e) {
            throw new FailureException(1, Optional.ofNullable(stopped.get()).orElse("interrupted"));
        }
    }

    /** Interrupts the calling thread if the ranks stop without saying anything. */
    private static Thread watchOver(RankProgress progress, Duration patience, AtomicReference<String> stopped) {
        Thread waiting = Thread.currentThread();
        return Thread.ofPlatform().daemon().name("symmem-watch").start(() -> {
            try {
                while (progress.idleNanos() < patience.toNanos()) {
                    Thread.sleep(Math.max(1, (patience.toNanos() - progress.idleNanos()) / 1_000_000));
                }
                stopped.set("no progress for " + patience.toSeconds() + " s, so the ranks were ended. Not ready: " + progress.unready()
                        + ". Is the process stopped, or the disk very slow? --timeout allows more");
                waiting.interrupt();
            } catch (InterruptedException e) {
                // All ranks have ended.
            }
        });
    }

    private void hear(int rank, String line, RankProgress progress) {
        RankMessage.Line heard = RankMessage.in(line);
        if (heard.message().isEmpty() || !heard.text().isEmpty()) {
            System.err.println("[" + rank + "] " + heard.text());
        }
        synchronized (results) {
            switch (heard.message().orElse(null)) {
                case RankMessage.Progress news -> progress.set(rank, news);
                case RankMessage.Result result -> {
                    results.put(rank, result);
                    progress.ready(rank);
                }
                case RankMessage.Failure failure -> failures.put(rank, failure);
                case null -> {
                    // It was output only.
                }
            }
        }
    }

    /** All ranks say the same of a collective failure; the reader needs it once. */
    private String failureOf(LocalLauncher.Outcome outcome) {
        int first = outcome.failedRank().orElseThrow();
        synchronized (results) {
            RankMessage.Failure failure = failures.get(first);
            if (Boolean.getBoolean(Main.DEBUG)) {
                failures.forEach((rank, one) -> System.err.println("rank " + rank + ": " + one.trace()));
            }
            if (failure != null) {
                List<Integer> alike = new ArrayList<>(failures.keySet());
                alike.removeIf(rank -> !failures.get(rank).message().equals(failure.message()));
                return (alike.size() == 1 ? "rank " + first
                        : "ranks " + alike.stream().map(String::valueOf).collect(Collectors.joining(", "))) + " failed: "
                        + failure.message();
            }
        }
        String said = outcome.exitCode() > 128 ? ""
                : outcome.lastLines()
                        .stream()
                        .filter(line -> RankMessage.in(line).message().isEmpty())
                        .map(line -> "\n    " + line)
                        .collect(Collectors.joining());
        return outcome.failure() + "; the other ranks were ended" + (said.isEmpty() ? "" : ". Its last lines:" + said);
    }

    private static String resultOf(FutureTask<String> sha256) throws Exception {
        try {
            return sha256.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private boolean print(InputFile source, int number, String expected) {
        boolean all = true;
        Table table = new Table("rrllrrrrrl", "rank", "pid", "host", "device", "bytes", "seconds", "view GB/s", "peers GB/s", "peak RSS",
                "verified");
        String backends;
        synchronized (results) {
            for (int rank = 0; rank < number; rank++) {
                RankMessage.Result r = results.get(rank);
                if (r == null) {
                    throw new FailureException(1,
                            "rank " + rank + " ended well and said nothing of what it found; something else writes to its standard output");
                }
                boolean hasView = !r.viewSha256().isEmpty();
                boolean viewRight = !hasView || r.viewSha256().equals(expected);
                boolean peersRight = r.peersSha256().equals(expected);
                all &= viewRight && peersRight;
                table.row(Integer.toString(rank), Long.toString(r.pid()), r.host(), r.device(), Long.toString(r.loadedBytes()),
                        number("%.2f", r.seconds()),
                        hasView ? speed(source, r.viewGigabytes()) : "no view", speed(source, r.peersGigabytes()),
                        r.residentKibibytes() / 1024 + " MiB",
                        viewRight && peersRight ? "yes"
                                : "NO: wrong through " + (viewRight ? "the peers" : peersRight ? "the view" : "view and peers"));
            }
            backends = results.values().stream().map(RankMessage.Result::backend).distinct().collect(Collectors.joining(", "));
        }
        System.out.println(source.path() + ": " + source.sizeBytes() + " bytes, SHA-256 " + expected);
        System.out.println(number + (number == 1 ? " rank" : " ranks") + ", backend " + backends
                + (Backends.emulated() ? " (EMULATED libraries: says nothing about hardware)" : ""));
        table.print(System.out);
        return all;
    }

    private static String speed(InputFile source, double gigabytes) {
        return source.sizeBytes() < TOO_FEW_BYTES ? "-" : number("%.2f", gigabytes);
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
