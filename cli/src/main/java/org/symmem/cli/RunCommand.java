package org.symmem.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.symmem.rendezvous.JavaCommand;
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
    "  symmem run --program gather.symm --ranks 4       a host program",
    "%nThe table goes to standard output, everything else to standard error. GB/s (10^9 bytes) are those of the copies out of symmetric memory, "
            + "the first touch of each page included, the time for SHA-256 not; the seconds are a rank's whole work. "
            + "RSS is the most that was resident, the shared pages that the rank touched among it."
}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {"0:every rank verified",
    "1:it failed; nothing is left behind, and the output is as it was before", "2:an option is wrong",
    "128+n:a rank was ended by signal n, for instance 137 by kill -9"})
final class RunCommand implements Callable<Integer> {
    /** The heap holds next to nothing; SHA-256 is fast only when the second compiler uses the processor's instructions. */
    static final List<String> RANK_FLAGS = List.of("-Xmx32m", "-Xss512k", "-XX:ReservedCodeCacheSize=24m", "-XX:-UsePerfData");
    /** What fewer bytes take is the time of the first call, not of a copy. */
    private static final long TOO_FEW_BYTES = 1 << 20;

    @Mixin
    private Ranks ranks;

    @Mixin
    private Emulated emulated;

    @Mixin
    private Job job;

    @Option(names = "--input", paramLabel = "FILE", description = "what to share (default: the largest file of the Java that runs this)")
    private @Nullable Path input;

    @Option(names = "--output", paramLabel = "FILE", description = "what rank 0 writes; it appears when every rank has verified")
    private @Nullable Path output;

    @Option(names = "--program", paramLabel = "FILE", description = "run a host program instead (docs/programs.md has the language): its inputs are filled with a pattern, and each output's SHA-256 is printed for every rank")
    private @Nullable Path program;

    @Option(names = "--lowering", paramLabel = "L", description = "what a program's communication becomes: symmetric for copies to symmetric memory, native for the backend's own collectives (default: symmetric)")
    private @Nullable String lowering;

    private final Map<Integer, RankMessage.Result> results = new TreeMap<>();

    @Override
    public Integer call() throws Exception {
        int number = ranks.number();
        Duration patience = job.timeout();
        if (program != null) {
            if (input != null || output != null) {
                throw new UsageException("--program runs a program; --input and --output share a file: choose one");
            }
            ProgramRun run = ProgramRun.of(program, lowering, number);
            job.requireBackend();
            run.run(patience);
            return 0;
        }
        if (lowering != null) {
            throw new UsageException("--lowering is about a program: name one with --program");
        }
        InputFile source = input == null ? InputFile.ofThisJava() : InputFile.at(input);
        job.requireBackend();
        try (OutputFile target = output == null ? null : OutputFile.at(output, source)) {
            FutureTask<String> sha256 = new FutureTask<>(source::sha256);
            Thread.ofPlatform().daemon().name("symmem-sha256").start(sha256);
            launch(number, source, target, patience);
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

    private void launch(int number, InputFile source, @Nullable OutputFile target, Duration patience) throws IOException {
        List<String> command = JavaCommand.of(RANK_FLAGS, RunRank.class,
                List.of(source.path().toString(), Long.toString(source.sizeBytes()), target == null ? "" : target.partial().toString()));
        try (RankProgress progress = RankProgress.ofBytes("sharing", number, source.sizeBytes() * (1 + 2L * number))) {
            new RankJob(number, patience, progress, (rank, message) -> {
                if (message instanceof RankMessage.Result result) {
                    synchronized (results) {
                        results.put(rank, result);
                    }
                    progress.ready(rank);
                }
            }).run(command);
        }
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
        System.out.println(Backends.headline(number, backends));
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
