package org.symmem.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.rendezvous.LocalLauncher;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The main job: ranks share a file through symmetric memory, and each verifies all of it. */
@Command(
        name = "run",
        description = "Share a file through symmetric memory: each rank loads its part, all rendezvous, and every rank reads the whole file through the contiguous view and from its peers "
                + "and compares its SHA-256 with the input's. Rank 0 writes the output, if one is asked for.",
        footerHeading = "%nExamples:%n",
        footer = {"  symmem run", "  symmem run --ranks 4 --input big.bin --output copy.bin"})
final class RunCommand implements Callable<Integer> {
    /** SHA-256 needs the second compiler to be fast; the heap holds next to nothing. */
    private static final List<String> RANK_FLAGS = List.of("-Xmx48m", "-XX:ReservedCodeCacheSize=32m", "-XX:CICompilerCount=2");

    @Mixin
    private Ranks ranks;

    @Option(names = "--backend", paramLabel = "B", description = "the backend (default: the best that all ranks share)")
    private @Nullable String backend;

    @Option(names = "--input", paramLabel = "FILE", description = "what to share (default: the largest file of this Java, lib/modules)")
    private @Nullable Path input;

    @Option(names = "--output", paramLabel = "FILE", description = "where rank 0 writes what it read from its peers")
    private @Nullable Path output;

    @Option(names = "--timeout", paramLabel = "S", description = "how long ranks wait for each other, in seconds (default: 60)")
    private @Nullable Double timeout;

    @Override
    public Integer call() throws Exception {
        int number = ranks.number();
        Path source = source();
        long fileBytes = Files.size(source);
        Optional<Path> partial = prepareOutput(source);
        CompletableFuture<String> expected = CompletableFuture.supplyAsync(() -> sha256Of(source));
        Map<Integer, RankMessage.Result> results = new TreeMap<>();
        Map<Integer, String> failures = new TreeMap<>();
        LocalLauncher.Outcome outcome;
        try (ProgressBar bar = progressBar(fileBytes, number)) {
            LocalLauncher launcher = new LocalLauncher(number, environment(), (rank, line, isError) -> hear(rank, line, results, failures, bar));
            List<String> arguments = List.of(source.toString(), Long.toString(fileBytes), partial.map(Path::toString).orElse(""));
            List<String> command = JavaCommand.of(RANK_FLAGS, RunRank.class, arguments);
            outcome = launcher.run(rank -> command);
        } catch (IOException | InterruptedException | RuntimeException e) {
            discard(partial);
            throw e;
        }
        if (outcome.failedRank().isPresent()) {
            discard(partial);
            return explain(outcome, failures);
        }
        boolean verified = print(source, fileBytes, expected.get(), results);
        if (!verified || results.size() != number) {
            discard(partial);
            System.err.println("symmem: not every rank verified the file" + (Files.size(source) != fileBytes ? "; the input has changed meanwhile" : ""));
            return 1;
        }
        if (partial.isPresent()) {
            Files.move(partial.get(), java.util.Objects.requireNonNull(output), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
        return 0;
    }

    private Path source() throws IOException {
        if (input == null) {
            return largestFileOfJava();
        }
        if (!Files.exists(input)) {
            throw new UsageException("the input " + input + " does not exist");
        }
        if (!Files.isRegularFile(input) || !Files.isReadable(input)) {
            throw new UsageException("the input " + input + " is not a file that can be read");
        }
        return input.toAbsolutePath();
    }

    private static Path largestFileOfJava() throws IOException {
        Path modules = Path.of(System.getProperty("java.home"), "lib", "modules");
        if (Files.isReadable(modules)) {
            return modules;
        }
        try (var files = Files.walk(Path.of(System.getProperty("java.home")))) {
            return files.filter(file -> Files.isRegularFile(file) && Files.isReadable(file))
                    .max(java.util.Comparator.comparingLong(file -> file.toFile().length()))
                    .orElseThrow(() -> new UsageException("this Java has no file to share; name one with --input"));
        }
    }

    /** {@return where rank 0 writes before everything is verified, made sure to be writable} */
    private Optional<Path> prepareOutput(Path source) throws IOException {
        if (output == null) {
            return Optional.empty();
        }
        Path target = output.toAbsolutePath();
        if (Files.exists(target) && Files.isSameFile(target, source)) {
            throw new UsageException("the output " + output + " is the input itself; name another file");
        }
        if (Files.isDirectory(target)) {
            throw new UsageException("the output " + output + " is a folder; name a file");
        }
        Path partial = target.resolveSibling(target.getFileName() + ".partial-" + ProcessHandle.current().pid());
        try {
            Files.createFile(partial);
            Files.delete(partial);
        } catch (IOException e) {
            throw new UsageException("the output " + output + " cannot be written: " + e + ". Is its folder there, and may you write to it?");
        }
        return Optional.of(partial);
    }

    private static void discard(Optional<Path> partial) {
        partial.ifPresent(file -> {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                System.err.println("symmem: " + file + " is left over and could not be removed: " + e.getMessage());
            }
        });
    }

    private Map<String, String> environment() {
        Map<String, String> variables = new HashMap<>();
        if (backend != null) {
            variables.put("SYMMEM_BACKEND", backend);
        }
        if (timeout != null) {
            variables.put("SYMMEM_TIMEOUT", timeout.toString());
        }
        return variables;
    }

    private static ProgressBar progressBar(long fileBytes, int ranks) {
        boolean onTerminal = System.console() != null && System.console().isTerminal();
        ProgressBarBuilder builder = new ProgressBarBuilder()
                .setTaskName("symmem run")
                .setInitialMax(fileBytes * (1 + 2L * ranks))
                .setUnit(" MiB", 1 << 20)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(200);
        return (onTerminal ? builder.clearDisplayOnFinish() : builder.setConsumer(new Silence())).build();
    }

    /** Where the progress bar goes when nobody looks at a terminal. */
    private static final class Silence implements me.tongfei.progressbar.ProgressBarConsumer {
        @Override
        public int getMaxRenderedLength() {
            return 80;
        }

        @Override
        public void accept(String text) {}

        @Override
        public void close() {}
    }

    private static void hear(int rank, String line, Map<Integer, RankMessage.Result> results, Map<Integer, String> failures, ProgressBar bar) {
        Optional<RankMessage> message = RankMessage.in(line);
        if (message.isEmpty()) {
            System.err.println("[" + rank + "] " + line);
            return;
        }
        switch (message.get()) {
            case RankMessage.Progress progress -> bar.stepBy(progress.bytes());
            case RankMessage.Result result -> {
                synchronized (results) {
                    results.put(rank, result);
                }
            }
            case RankMessage.Failure failure -> {
                synchronized (failures) {
                    failures.put(rank, failure.message());
                }
            }
        }
    }

    private static int explain(LocalLauncher.Outcome outcome, Map<Integer, String> failures) {
        // All ranks say the same of a collective failure; the reader needs it once.
        Map<String, List<Integer>> ranksByMessage = new java.util.LinkedHashMap<>();
        failures.forEach((rank, message) -> ranksByMessage.computeIfAbsent(message, m -> new ArrayList<>()).add(rank));
        ranksByMessage.forEach((message, who) -> System.err.println("symmem: ranks " + who + ": " + message));
        if (!failures.containsKey(outcome.failedRank().getAsInt())) {
            System.err.println("symmem: " + outcome.failure() + ", so the others were ended");
        }
        return outcome.exitCode();
    }

    private static boolean print(Path source, long fileBytes, String expected, Map<Integer, RankMessage.Result> results) {
        String emulated = System.getenv("SYMMEM_EMULATED") != null ? ", emulated: says nothing about hardware" : "";
        System.out.println(source + ", " + fileBytes + " bytes, SHA-256 " + expected + emulated);
        System.out.printf("%4s  %7s  %-12s  %-28s  %13s  %7s  %9s  %10s  %8s  %s%n", "rank", "pid", "host", "device", "loaded bytes", "seconds", "view GB/s", "peers GB/s", "RSS MiB", "verified");
        boolean all = true;
        for (RankMessage.Result r : results.values()) {
            boolean viewRight = r.viewSha256().isEmpty() || r.viewSha256().equals(expected);
            boolean verified = viewRight && r.peersSha256().equals(expected);
            all &= verified;
            System.out.printf("%4d  %7d  %-12s  %-28s  %13d  %7.2f  %9s  %10.2f  %8d  %s%n", r.rank(), r.pid(), r.host(), r.backend() + ": " + r.device(), r.loadedBytes(), r.seconds(),
                    r.viewSha256().isEmpty() ? "none" : String.format("%.2f", r.viewGigabytes()), r.peersGigabytes(), r.residentKibibytes() / 1024, verified ? "yes" : viewRight ? "NO, peers differ" : "NO, view differs");
        }
        return all;
    }

    private static String sha256Of(Path file) {
        MessageDigest digest = RunRank.sha256Digest();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
            while (channel.read(buffer) >= 0) {
                digest.update(buffer.flip());
                buffer.clear();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
