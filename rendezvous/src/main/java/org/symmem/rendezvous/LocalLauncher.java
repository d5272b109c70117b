package org.symmem.rendezvous;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Starts the ranks of one job on this host and sees them through: each gets the variables that torchrun would set, the launcher
 * serves the store, and when one rank fails the others are ended. No process is left when {@link #run} returns, nor when the
 * launcher is ended by a signal; when it is killed with -9, ranks see their standard input end.
 */
public final class LocalLauncher {
    private static final Duration GRACE = Duration.ofSeconds(3);
    private static final int LAST_LINES = 20;

    private final int ranks;
    private final Map<String, String> environment;
    private final Listener listener;

    /** Hears what the ranks print. Called by several threads. */
    @FunctionalInterface
    public interface Listener {
        /**
         * @param rank    who printed it
         * @param line    without its end
         * @param isError whether it went to standard error
         */
        void line(int rank, String line, boolean isError);
    }

    /**
     * How a job ended.
     *
     * @param failedRank the first rank that failed, if one did
     * @param exitCode   its exit code, 128 and the signal's number if a signal ended it; 0 if no rank failed
     * @param lastLines  the last lines that it printed
     */
    public record Outcome(OptionalInt failedRank, int exitCode, List<String> lastLines) {
        /** {@return how the failed rank ended, in words} */
        public String failure() {
            return failedRank.isEmpty() ? "no rank failed" : "rank " + failedRank.getAsInt() + (exitCode > 128 ? " was ended by signal " + (exitCode - 128) : " ended with exit code " + exitCode);
        }
    }

    /**
     * @param ranks       how many, from 1
     * @param environment more variables for the ranks
     * @param listener    hears what they print
     */
    public LocalLauncher(int ranks, Map<String, String> environment, Listener listener) {
        this.ranks = ranks;
        this.environment = Map.copyOf(environment);
        this.listener = listener;
    }

    private record RankProcess(int rank, Process process, Deque<String> lastLines, List<Thread> pumps) {}

    /**
     * Runs one command on every rank, to its end.
     *
     * @param command the command of a rank
     * @return how it ended
     * @throws IOException          if a process cannot be started; none is left then
     * @throws InterruptedException if the caller is interrupted; no process is left then either
     */
    public Outcome run(Function<Integer, List<String>> command) throws IOException, InterruptedException {
        List<RankProcess> started = new ArrayList<>();
        Thread atExit = new Thread(() -> end(started));
        Runtime.getRuntime().addShutdownHook(atExit);
        try (TcpStoreServer store = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), StoreLimits.defaults())) {
            for (int rank = 0; rank < ranks; rank++) {
                started.add(start(rank, command.apply(rank), store.port()));
            }
            return seeThrough(started);
        } finally {
            end(started);
            try {
                Runtime.getRuntime().removeShutdownHook(atExit);
            } catch (IllegalStateException e) {
                // The JVM is ending, so the hook runs.
            }
        }
    }

    private RankProcess start(int rank, List<String> command, int storePort) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        builder.environment().putAll(Map.of(
                "RANK", Integer.toString(rank), "WORLD_SIZE", Integer.toString(ranks), "LOCAL_RANK", Integer.toString(rank), "LOCAL_WORLD_SIZE", Integer.toString(ranks),
                "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", Integer.toString(storePort), "TORCHELASTIC_USE_AGENT_STORE", "True"));
        Process process = builder.start();
        Deque<String> lastLines = new ArrayDeque<>();
        List<Thread> pumps = List.of(pump(rank, process.getInputStream(), false, lastLines), pump(rank, process.getErrorStream(), true, lastLines));
        return new RankProcess(rank, process, lastLines, pumps);
    }

    private Thread pump(int rank, InputStream stream, boolean isError, Deque<String> lastLines) {
        return Thread.ofVirtual().start(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    synchronized (lastLines) {
                        if (lastLines.size() == LAST_LINES) {
                            lastLines.removeFirst();
                        }
                        lastLines.addLast(line);
                    }
                    listener.line(rank, line, isError);
                }
            } catch (IOException e) {
                // The process was ended while its output was read.
            }
        });
    }

    private Outcome seeThrough(List<RankProcess> started) throws InterruptedException {
        CompletableFuture<RankProcess> firstFailure = new CompletableFuture<>();
        List<CompletableFuture<?>> ends = new ArrayList<>();
        for (RankProcess rank : started) {
            ends.add(rank.process().onExit().thenAccept(process -> {
                if (process.exitValue() != 0) {
                    firstFailure.complete(rank);
                }
            }));
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
        try {
            CompletableFuture.anyOf(firstFailure, all).get();
            if (firstFailure.isDone()) {
                // What makes one rank fail often makes all fail: they may say so themselves.
                awaitAtMost(all, Duration.ofSeconds(1));
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("waiting for the ranks failed", e);
        }
        end(started);
        RankProcess failed = firstFailure.getNow(null);
        if (failed == null) {
            return new Outcome(OptionalInt.empty(), 0, List.of());
        }
        synchronized (failed.lastLines()) {
            return new Outcome(OptionalInt.of(failed.rank()), failed.process().exitValue(), List.copyOf(failed.lastLines()));
        }
    }

    private static void awaitAtMost(CompletableFuture<?> future, Duration patience) throws InterruptedException, ExecutionException {
        try {
            future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // They are ended by the caller.
        }
    }

    /** Ends what still runs, children of ranks too, first politely. */
    private static void end(List<RankProcess> started) {
        List<ProcessHandle> running = started.stream()
                .flatMap(rank -> java.util.stream.Stream.concat(rank.process().descendants(), java.util.stream.Stream.of(rank.process().toHandle())))
                .filter(ProcessHandle::isAlive)
                .toList();
        running.forEach(ProcessHandle::destroy);
        long deadline = System.nanoTime() + GRACE.toNanos();
        for (ProcessHandle process : running) {
            try {
                process.onExit().get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (InterruptedException | ExecutionException | TimeoutException e) {
                process.destroyForcibly();
            }
        }
        for (RankProcess rank : started) {
            for (Thread pump : rank.pumps()) {
                try {
                    pump.join(GRACE);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
