package org.symmem.tck;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.rendezvous.StoreLimits;
import org.symmem.rendezvous.TcpStoreServer;
import org.symmem.spi.Closers;
import org.symmem.spi.Wire;

/**
 * The ranks of the kit, one process each. They stay up between rules, so that a rule costs milliseconds; when one has failed,
 * died or hangs, all are ended and the next rule gets new ones.
 */
final class RankProcesses implements AutoCloseable {
    /**
     * A leak grows with every run of a rule. A pool may grow twice: it needs room for what a run wants, and once more for what the ranks gave
     * back last time but have not told each other yet.
     */
    private static final int MOST_RUNS = 3;
    /** Ranks are many and short-lived: the first compiler is enough, and a small heap keeps them light. */
    private static final List<String> FLAGS = List.of("-Xcheck:jni", "-XX:TieredStopAtLevel=1", "-Xmx192m");
    /** Ranks that do not come up twice in a row will not for the next rule either. */
    private static final int TRIES = 2;
    /** How long one rank is listened to before the next gets its turn. */
    private static final Duration TURN = Duration.ofMillis(10);

    private final TckSettings settings;
    private final Map<Integer, RankProcess> ranks = new TreeMap<>();
    private final Map<Integer, Process> processes = new HashMap<>();
    private final Closers closers = new Closers();
    private final Thread atExit = new Thread(() -> endAll(false));
    private @Nullable RankReport report;
    private @Nullable BackendUnavailable unavailable;
    private @Nullable Broken lastStart;
    private int failedStarts;
    private int generation;

    RankProcesses(TckSettings settings) {
        this.settings = settings;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** The backend is not available on this machine; the message says why. */
    static final class BackendUnavailable extends Exception {
        BackendUnavailable(String reason) {
            super(reason);
        }
    }

    /** A rule was broken; the message has what every rank says. */
    static final class Broken extends AssertionError {
        Broken(String message) {
            super(message);
        }
    }

    /** {@return what rank 0 says of itself; starts the ranks if they are not running} */
    RankReport report() throws BackendUnavailable {
        if (unavailable != null) {
            throw unavailable;
        }
        if (failedStarts >= TRIES) {
            throw new Broken("the ranks did not come up " + TRIES + " times in a row, the last time because: "
                    + Objects.requireNonNull(lastStart).getMessage());
        }
        if (ranks.isEmpty()) {
            start();
        }
        return Objects.requireNonNull(report);
    }

    private void start() throws BackendUnavailable {
        generation++;
        try {
            TcpStoreServer store = closers
                    .add(TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), StoreLimits.defaults()));
            ServerSocket listener = closers.add(new ServerSocket(0, settings.ranks(), InetAddress.getLoopbackAddress()));
            byte[] random = new byte[16];
            new java.security.SecureRandom().nextBytes(random);
            String token = HexFormat.of().formatHex(random);
            Map<Integer, Path> logs = new HashMap<>();
            for (int rank = 0; rank < settings.ranks(); rank++) {
                Path log = Files.createDirectories(folder()).resolve("ranks-" + generation + "-rank-" + rank + ".log");
                logs.put(rank, log);
                processes.put(rank, startRank(rank, store.port(), listener.getLocalPort(), token, log));
            }
            long deadline = System.nanoTime() + TckSettings.startTimeout().toNanos();
            connect(listener, token, logs, deadline);
            awaitReady(deadline);
            failedStarts = 0;
        } catch (IOException e) {
            endAll(true);
            throw new UncheckedIOException("the ranks cannot be started", e);
        } catch (BackendUnavailable e) {
            endAll(true);
            unavailable = e;
            throw e;
        } catch (Broken e) {
            endAll(true);
            failedStarts++;
            lastStart = e;
            throw e;
        } catch (RuntimeException e) {
            endAll(true);
            throw e;
        }
    }

    private Path folder() {
        return settings.output().resolve(settings.backend() + "-" + settings.ranks());
    }

    private Process startRank(int rank, int storePort, int kitPort, String token, Path log) throws IOException {
        List<String> flags = new ArrayList<>(FLAGS);
        flags.add("-XX:ErrorFile=" + folder().resolve("crash-%p.txt").toAbsolutePath());
        flags.addAll(settings.jvmFlags());
        ProcessBuilder builder = new ProcessBuilder(JavaCommand.of(flags, RankMain.class, List.of()));
        builder.environment().putAll(settings.environment());
        builder.environment()
                .putAll(Map.of("RANK", Integer.toString(rank), "WORLD_SIZE", Integer.toString(settings.ranks()), "LOCAL_RANK",
                        Integer.toString(rank),
                        "SYMMEM_TCK_BACKEND", settings.backend(), "SYMMEM_TCK_STORE", Integer.toString(storePort), "SYMMEM_TCK_PORT",
                        Integer.toString(kitPort), "SYMMEM_TCK_TOKEN", token));
        return builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    }

    private void connect(ServerSocket listener, String token, Map<Integer, Path> logs, long deadline) throws IOException {
        listener.setSoTimeout(200);
        while (ranks.size() < settings.ranks()) {
            try {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(5_000);
                int rank = greeted(socket, token);
                if (rank >= 0) {
                    socket.setSoTimeout(0);
                    RankProcess process = new RankProcess(rank, Objects.requireNonNull(processes.get(rank)),
                            Objects.requireNonNull(logs.get(rank)), socket);
                    ranks.put(rank, process);
                    process.listen();
                } else {
                    socket.close();
                }
            } catch (java.net.SocketTimeoutException e) {
                for (Map.Entry<Integer, Process> started : processes.entrySet()) {
                    if (!started.getValue().isAlive() && !ranks.containsKey(started.getKey())) {
                        throw new Broken("rank " + started.getKey() + " ended with exit code " + started.getValue().exitValue()
                                + " before it could be talked to; its output: " + Files.readString(logs.get(started.getKey())));
                    }
                }
                if (System.nanoTime() > deadline) {
                    throw new Broken("the ranks did not start within " + TckSettings.startTimeout().toSeconds() + " s; only "
                            + ranks.keySet() + " did");
                }
            }
        }
    }

    /** {@return the rank that greets, or -1 if it is somebody else} */
    private int greeted(Socket socket, String token) throws IOException {
        try {
            KitMessage hello = KitMessage.read(new DataInputStream(socket.getInputStream()));
            int rank = Wire.read(hello.body(), in -> in.readUTF().equals(token) ? in.readInt() : -1);
            return rank < settings.ranks() ? rank : -1;
        } catch (java.io.EOFException | IllegalArgumentException e) {
            return -1;
        }
    }

    /** Hears all ranks in turn: one that has died explains better than those that waited for it. */
    private void awaitReady(long deadline) throws BackendUnavailable {
        List<RankProcess> waiting = new ArrayList<>(ranks.values());
        while (!waiting.isEmpty()) {
            for (RankProcess rank : List.copyOf(waiting)) {
                switch (rank.hear(TURN)) {
                    case Heard.Said said -> {
                        takeFirstWords(rank, said.message());
                        waiting.remove(rank);
                    }
                    case Heard.Nothing nothing when System.nanoTime() - deadline < 0 -> {
                        continue;
                    }
                    case Heard.Nothing nothing -> throw new Broken("rank " + rank.rank() + " did not open the backend within "
                            + TckSettings.startTimeout().toSeconds() + " s" + kept("start"));
                    case Heard.Gone gone -> throw new Broken("rank " + rank.rank() + " "
                            + rank.end().orElse("closed its connection") + " while it opened the backend" + kept("start")
                            + "; its last output:\n" + String.join("\n", rank.lastLines()));
                }
            }
        }
    }

    private void takeFirstWords(RankProcess rank, KitMessage message) throws BackendUnavailable {
        switch (message.kind()) {
            case KitMessage.UNAVAILABLE -> throw new BackendUnavailable(Wire.read(message.body(), in -> in.readUTF()));
            case KitMessage.NOT_OPENED -> {
                RankOutcome outcome = RankOutcome.from(message.body());
                throw new Broken("rank " + rank.rank() + " could not open the backend: " + outcome.message() + "\n" + outcome.trace());
            }
            default -> {
                if (rank.rank() == 0) {
                    report = RankReport.from(message.body());
                }
            }
        }
    }

    /**
     * Runs a rule on all ranks.
     *
     * @param rule         its id
     * @param body         what every rank does
     * @param mustBeKilled ranks that the rule kills, which must end by signal 9 and say nothing
     * @throws Broken if a rank says so, dies or hangs
     */
    void run(String rule, RankBody body, Set<Integer> mustBeKilled) throws BackendUnavailable {
        forget(rule);
        report();
        Map<RankProcess, Heard> answers = runOnce(rule, body, mustBeKilled);
        for (int times = 1; times < MOST_RUNS && onlyLeftSomething(answers); times++) {
            answers = runOnce(rule, body, mustBeKilled);
        }
        List<String> complaints = complaints(answers, mustBeKilled);
        if (!complaints.isEmpty()) {
            String kept = kept(rule);
            endAll(true);
            throw new Broken(String.join("\n", complaints) + kept);
        }
        if (!mustBeKilled.isEmpty()) {
            // The others may wait for the dead one; new ones begin together.
            endAll(true);
        }
    }

    private Map<RankProcess, Heard> runOnce(String rule, RankBody body, Set<Integer> mustBeKilled) {
        long seed = Long.getLong("symmem.tck.seed", System.nanoTime());
        byte[] order = Wire.write(out -> {
            out.writeUTF(rule + "-" + seed);
            out.writeLong(seed);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new ObjectOutputStream(bytes).writeObject(body);
            out.write(bytes.toByteArray());
        });
        for (RankProcess rank : ranks.values()) {
            try {
                rank.send(new KitMessage(KitMessage.RUN, order));
            } catch (IOException e) {
                // It is gone, which is what will be heard of it.
                rank.letGo();
            }
        }
        return answers(mustBeKilled);
    }

    /** {@return whether every rank kept the rule and some hold more than before, so that another run tells a leak from a pool} */
    private boolean onlyLeftSomething(Map<RankProcess, Heard> answers) {
        List<RankOutcome.Verdict> verdicts = new ArrayList<>();
        for (Heard heard : answers.values()) {
            verdicts.add(heard instanceof Heard.Said said ? RankOutcome.from(said.message().body()).verdict() : RankOutcome.Verdict.FAILED);
        }
        return verdicts.size() == ranks.size() && !verdicts.contains(RankOutcome.Verdict.FAILED)
                && verdicts.contains(RankOutcome.Verdict.LEFT_SOMETHING);
    }

    private Map<RankProcess, Heard> answers(Set<Integer> mustBeKilled) {
        Map<RankProcess, Heard> answers = new HashMap<>();
        List<RankProcess> waiting = new ArrayList<>(ranks.values());
        long deadline = System.nanoTime() + TckSettings.ruleTimeout().toNanos();
        while (!waiting.isEmpty() && System.nanoTime() - deadline < 0) {
            for (RankProcess rank : List.copyOf(waiting)) {
                Heard heard = rank.hear(TURN);
                if (heard instanceof Heard.Nothing) {
                    continue;
                }
                waiting.remove(rank);
                answers.put(rank, heard);
                if (complaint(rank, heard, mustBeKilled).isPresent()) {
                    // The others now wait for a rank that will not come.
                    deadline = Math.min(deadline, System.nanoTime() + TckSettings.graceTimeout().toNanos());
                }
            }
        }
        return answers;
    }

    private List<String> complaints(Map<RankProcess, Heard> answers, Set<Integer> mustBeKilled) {
        List<String> complaints = new ArrayList<>();
        for (RankProcess rank : ranks.values()) {
            if (answers.containsKey(rank)) {
                complaint(rank, answers.get(rank), mustBeKilled).ifPresent(complaints::add);
            }
        }
        // Who was only waiting for a rank that failed comes last: it is seldom the cause.
        boolean failed = !complaints.isEmpty();
        for (RankProcess rank : ranks.values()) {
            if (!answers.containsKey(rank)) {
                complaints.add("rank " + rank.rank() + " " + (failed
                        ? "was still running " + TckSettings.graceTimeout().toMillis() + " ms after that"
                        : "gave no answer within " + TckSettings.ruleTimeout().toSeconds() + " s"));
            }
        }
        return complaints;
    }

    private static Optional<String> complaint(RankProcess rank, Heard heard, Set<Integer> mustBeKilled) {
        boolean victim = mustBeKilled.contains(rank.rank());
        if (heard instanceof Heard.Said said) {
            RankOutcome outcome = RankOutcome.from(said.message().body());
            if (victim) {
                return Optional.of("rank " + rank.rank() + " should have been killed" + (outcome.passed() ? "" : ": " + outcome.message()));
            }
            return outcome.passed()
                    ? Optional.empty()
                    : Optional.of("rank " + rank.rank() + ": " + outcome.message() + "\n" + outcome.trace());
        }
        String end = rank.end().orElse("closed its connection to the kit and goes on");
        return victim && end.equals("ended by signal 9")
                ? Optional.empty()
                : Optional.of("rank " + rank.rank() + " " + end + "; its last output:\n" + String.join("\n", rank.lastLines()));
    }

    /** Evidence of an earlier run would be taken for this one's. */
    private void forget(String rule) {
        File[] kept = folder().resolve(rule).toFile().listFiles(File::isFile);
        for (File file : kept == null ? new File[0] : kept) {
            file.delete();
        }
        folder().resolve(rule).toFile().delete();
    }

    /** {@return where the ranks' threads, descriptors and output are kept, as the end of a message} */
    private String kept(String rule) {
        Path kept = folder().resolve(rule);
        try {
            Files.createDirectories(kept);
            for (RankProcess rank : ranks.values()) {
                rank.keepEvidence(kept);
            }
        } catch (IOException e) {
            return "\n(evidence of the ranks could not be kept: " + e + ")";
        }
        return "\nthreads, descriptors and output of the ranks: " + kept;
    }

    private synchronized void endAll(boolean byForce) {
        if (byForce) {
            processes.values().forEach(Process::destroyForcibly);
        }
        ranks.values().forEach(RankProcess::letGo);
        long deadline = System.nanoTime() + 2 * TckSettings.answerTimeout().toNanos();
        for (Process process : processes.values()) {
            try {
                if (!process.waitFor(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                    process.destroyForcibly().waitFor();
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
        ranks.clear();
        processes.clear();
        closers.close();
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(atExit);
        endAll(false);
    }
}
