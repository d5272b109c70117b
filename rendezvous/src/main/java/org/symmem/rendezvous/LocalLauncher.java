package org.symmem.rendezvous;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.symmem.linux.LibC;

/**
 * Starts the ranks of one job on this host and sees them through: each gets the variables that torchrun would set, the launcher
 * serves the store ({@code TORCHELASTIC_USE_AGENT_STORE}, so that no free port has to be guessed for rank 0), and when one rank
 * fails the others are ended, first by SIGTERM, after 3 seconds by SIGKILL, with the processes that they started.
 *
 * <p>No process is left when {@link #run} returns, nor when this process is ended by SIGINT or SIGTERM. When it is killed with
 * -9 it can do nothing any more: ranks that call {@link #endWithLauncher} notice and end themselves; other programs are started
 * with {@link #ofAnyProgram()}, where the kernel ends them if the {@code setpriv} command is installed (package util-linux), and
 * go on otherwise.
 */
public final class LocalLauncher {
    private static final Duration GRACE = Duration.ofSeconds(3);
    /** How long the other ranks may take to say what they think of the first failure. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);
    private static final int LAST_LINES = 20;
    /** A longer line comes in pieces, so that a rank that never ends its line cannot fill this process's memory. */
    private static final int LINE_BYTES = 64 * 1024;

    private final int ranks;
    private final Map<String, String> environment;
    private final Listener listener;
    private final boolean anyProgram;
    private volatile @Nullable JobMark current;

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
     * @param pid        its process, or 0
     * @param exitCode   its exit code, 128 and the signal's number if a signal ended it; 0 if no rank failed
     * @param lastLines  the last lines that it printed: 20 at most of the standard output, then 20 at most of the standard error
     */
    public record Outcome(OptionalInt failedRank, long pid, int exitCode, List<String> lastLines) {
        private static boolean isSignal(int exitCode) {
            return exitCode > 128 && exitCode <= 128 + 64;
        }

        /** {@return how the failed rank ended, in words} */
        public String failure() {
            if (failedRank.isEmpty()) {
                return "no rank failed";
            }
            String who = "rank " + failedRank.getAsInt() + " (process " + pid + ") ";
            return who + switch (exitCode - 128) {
                case 2 -> "was ended by signal 2 (SIGINT)";
                case 6 -> "was ended by signal 6 (SIGABRT): it, or a native library in it, gave up";
                case 7 -> "was ended by signal 7 (SIGBUS)";
                case 9 -> "was ended by signal 9 (SIGKILL); if nobody sent it, the kernel was out of memory";
                case 11 -> "was ended by signal 11 (SIGSEGV)";
                case 15 -> "was ended by signal 15 (SIGTERM)";
                default -> isSignal(exitCode) ? "was ended by signal " + (exitCode - 128) : "ended with exit code " + exitCode;
            };
        }
    }

    /**
     * @param ranks       how many, from 1
     * @param environment more variables for the ranks
     * @param listener    hears what they print
     */
    public LocalLauncher(int ranks, Map<String, String> environment, Listener listener) {
        this(ranks, environment, listener, false);
    }

    private LocalLauncher(int ranks, Map<String, String> environment, Listener listener, boolean anyProgram) {
        if (ranks < 1) {
            throw new IllegalArgumentException("a job has at least 1 rank, not " + ranks);
        }
        this.ranks = ranks;
        this.environment = Map.copyOf(environment);
        this.listener = listener;
        this.anyProgram = anyProgram;
    }

    /** {@return a launcher for programs that know nothing of {@link #endWithLauncher}: their standard input is empty} */
    public LocalLauncher ofAnyProgram() {
        return new LocalLauncher(ranks, environment, listener, true);
    }

    /**
     * Makes this process, a rank, end when its launcher does, however that ends: the launcher holds the standard input open as
     * long as it lives. Local; returns at once. Nothing else may read the standard input.
     *
     * @param before what to do before the process is halted without its shutdown hooks
     */
    public static void endWithLauncher(Runnable before) {
        Thread.ofPlatform().daemon().name("symmem-launcher-watch").start(() -> {
            try {
                System.in.transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException e) {
                // As good as its end.
            }
            try {
                before.run();
            } finally {
                Runtime.getRuntime().halt(143);
            }
        });
    }

    /**
     * Sends a signal to the ranks of the running job and to the processes that they started. Local, any thread; does nothing while no
     * job runs.
     *
     * @param number as in signal(7)
     */
    public void signal(int number) {
        JobMark job = current;
        if (job != null) {
            job.processes().forEach(process -> LibC.kill(process.pid(), number, "forwarding a signal to a rank"));
        }
    }

    private record RankProcess(int rank, Process process, List<LastLines> output, List<Thread> pumps) {
        Outcome outcome() {
            return new Outcome(OptionalInt.of(rank), process.pid(), process.exitValue(),
                    output.stream().flatMap(stream -> stream.get().stream()).toList());
        }
    }

    /** What came last from one stream: two streams are read by two threads, and much of one must not push out the reason in the other. */
    private static final class LastLines {
        private final Deque<String> lines = new ArrayDeque<>();

        synchronized void add(String line) {
            if (lines.size() == LAST_LINES) {
                lines.removeFirst();
            }
            lines.addLast(line);
        }

        synchronized List<String> get() {
            return List.copyOf(lines);
        }
    }

    /**
     * Runs one command on every rank, to its end. Blocks; the calling thread must not end before it returns.
     *
     * @param command the command of a rank
     * @return how it ended
     * @throws IOException          if a process cannot be started; none is left then
     * @throws InterruptedException if the caller is interrupted; no process is left then either
     */
    public Outcome run(Function<Integer, List<String>> command) throws IOException, InterruptedException {
        List<RankProcess> started = new ArrayList<>();
        AtomicBoolean ending = new AtomicBoolean();
        JobMark job = JobMark.unique();
        Thread atExit = new Thread(() -> {
            ending.set(true);
            end(started, job);
        });
        Runtime.getRuntime().addShutdownHook(atExit);
        current = job;
        try (TcpStoreServer store = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                StoreLimits.defaults(), token())) {
            for (int rank = 0; rank < ranks; rank++) {
                List<String> ofRank = command.apply(rank);
                synchronized (started) {
                    if (ending.get()) {
                        throw new InterruptedException("this process is ending");
                    }
                    started.add(start(rank, ofRank, store.port(), job));
                }
            }
            return seeThrough(started, job);
        } finally {
            end(started, job);
            current = null;
            try {
                Runtime.getRuntime().removeShutdownHook(atExit);
            } catch (IllegalStateException e) {
                // The JVM is ending, so the hook runs.
            }
        }
    }

    /** The ranks have the token from the same variables. */
    private Optional<StoreToken> token() {
        return StoreToken.of(environment).or(() -> StoreToken.of(System.getenv()));
    }

    private RankProcess start(int rank, List<String> command, int storePort, JobMark job) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(anyProgram ? endedByTheKernel(command) : command);
        if (anyProgram) {
            builder.redirectInput(new File("/dev/null"));
        }
        Map<String, String> variables = builder.environment();
        variables.putAll(environment);
        variables.putAll(Map.of("RANK", Integer.toString(rank), "WORLD_SIZE", Integer.toString(ranks), "LOCAL_RANK", Integer.toString(rank),
                "LOCAL_WORLD_SIZE", Integer.toString(ranks),
                "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", Integer.toString(storePort)));
        // PyTorch asks for the count of restarts as soon as it is told that an agent serves the store.
        variables.putAll(Map.of("TORCHELASTIC_USE_AGENT_STORE", "True", "TORCHELASTIC_RESTART_COUNT", "0", JobMark.VARIABLE, job.value()));
        Process process = builder.start();
        LastLines out = new LastLines();
        LastLines err = new LastLines();
        List<Thread> pumps = List.of(pump(rank, process.getInputStream(), false, out), pump(rank, process.getErrorStream(), true, err));
        return new RankProcess(rank, process, List.of(out, err), pumps);
    }

    /** The signal comes when the thread that started the process ends, which is the one that waits for it. */
    private static List<String> endedByTheKernel(List<String> command) {
        Optional<Path> setpriv = Stream.of("/usr/bin/setpriv", "/bin/setpriv").map(Path::of).filter(Files::isExecutable).findFirst();
        if (setpriv.isEmpty()) {
            return command;
        }
        List<String> wrapped = new ArrayList<>(List.of(setpriv.get().toString(), "--pdeathsig", "KILL", "--"));
        wrapped.addAll(command);
        return wrapped;
    }

    private Thread pump(int rank, InputStream stream, boolean isError, LastLines lastLines) {
        // Platform threads: each blocks in a read for as long as the rank lives.
        return Thread.ofPlatform().daemon().name("symmem-output-" + rank).start(() -> {
            try (stream) {
                ByteArrayOutputStream line = new ByteArrayOutputStream();
                for (int next = stream.read(); next >= 0; next = stream.read()) {
                    if (next != '\n') {
                        line.write(next);
                    }
                    if (next == '\n' || line.size() == LINE_BYTES) {
                        hear(rank, line, isError, lastLines);
                    }
                }
                if (line.size() > 0) {
                    hear(rank, line, isError, lastLines);
                }
            } catch (IOException e) {
                // The process was ended while its output was read.
            }
        });
    }

    private void hear(int rank, ByteArrayOutputStream bytes, boolean isError, LastLines lastLines) {
        String line = bytes.toString(StandardCharsets.UTF_8);
        bytes.reset();
        lastLines.add(line);
        listener.line(rank, line, isError);
    }

    private static Outcome seeThrough(List<RankProcess> started, JobMark job) throws InterruptedException {
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
                all.get(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (TimeoutException e) {
            // The others are ended below.
        } catch (ExecutionException e) {
            throw new IllegalStateException("waiting for the ranks failed", e);
        }
        // A rank that was killed makes the others fail, and one of them may have been seen first.
        Optional<RankProcess> killed = started.stream()
                .filter(rank -> !rank.process().isAlive() && Outcome.isSignal(rank.process().exitValue()))
                .findFirst();
        end(started, job);
        RankProcess failed = firstFailure.getNow(null);
        return failed == null ? new Outcome(OptionalInt.empty(), 0, 0, List.of()) : killed.orElse(failed).outcome();
    }

    /** Ends what still runs, processes that ranks started too, first politely. */
    private static void end(List<RankProcess> started, JobMark job) {
        List<RankProcess> ranks;
        synchronized (started) {
            ranks = List.copyOf(started);
        }
        List<ProcessHandle> running = new ArrayList<>(alive(ranks, job));
        running.forEach(ProcessHandle::destroy);
        long deadline = System.nanoTime() + GRACE.toNanos();
        boolean interrupted = Thread.interrupted();
        for (ProcessHandle process : running) {
            try {
                process.onExit().get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (ExecutionException | TimeoutException e) {
                // It is killed below.
            } catch (InterruptedException e) {
                interrupted = true;
                deadline = System.nanoTime();
            }
        }
        running.addAll(alive(ranks, job));
        running.forEach(ProcessHandle::destroyForcibly);
        // One may have started another while it was being killed.
        List<ProcessHandle> more = job.processes();
        for (int tries = 0; !more.isEmpty() && tries < 100; tries++) {
            more.forEach(ProcessHandle::destroyForcibly);
            LockSupport.parkNanos(1_000_000);
            more = job.processes();
        }
        try {
            for (RankProcess rank : ranks) {
                rank.process().waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS);
                for (Thread pump : rank.pumps()) {
                    // A grandchild that nobody knows may hold the pipe open.
                    pump.join(Duration.ofNanos(Math.max(1, deadline + GRACE.toNanos() - System.nanoTime())));
                }
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<ProcessHandle> alive(List<RankProcess> ranks, JobMark job) {
        Stream<ProcessHandle> ofRanks = ranks.stream()
                .flatMap(rank -> Stream.concat(rank.process().descendants(), Stream.of(rank.process().toHandle())));
        return Stream.concat(ofRanks, job.processes().stream()).distinct().filter(ProcessHandle::isAlive).toList();
    }
}
