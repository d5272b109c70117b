package org.symmem.tck;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.rendezvous.StoreLimits;
import org.symmem.rendezvous.TcpStoreServer;
import org.symmem.spi.Closers;
import org.symmem.spi.Wire;

/**
 * The ranks of the kit, one process each. They stay up between rules, so that a rule costs milliseconds; when one has died or
 * hangs, all are ended and the next rule gets new ones.
 */
final class RankProcesses implements AutoCloseable {
    /** Ranks are many and short-lived: the first compiler is enough, and a small heap keeps them light. */
    private static final List<String> FLAGS = List.of("-Xcheck:jni", "-XX:TieredStopAtLevel=1", "-Xmx192m");

    private final TckSettings settings;
    private final Map<Integer, RankProcess> ranks = new TreeMap<>();
    private final Closers closers = new Closers();
    private final Thread atExit = new Thread(this::endAll);
    private @Nullable RankReport report;
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
        if (ranks.isEmpty()) {
            start();
        }
        return java.util.Objects.requireNonNull(report);
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
            Map<Integer, Process> processes = new HashMap<>();
            Map<Integer, Path> logs = new HashMap<>();
            closers.add(() -> processes.values().forEach(Process::destroyForcibly));
            for (int rank = 0; rank < settings.ranks(); rank++) {
                Path log = Files.createDirectories(folder()).resolve("ranks-" + generation + "-rank-" + rank + ".log");
                logs.put(rank, log);
                processes.put(rank, startRank(rank, store.port(), listener.getLocalPort(), token, log));
            }
            long deadline = System.nanoTime() + TckSettings.startTimeout().toNanos();
            connect(listener, token, processes, logs, deadline);
            awaitReady(deadline);
        } catch (IOException e) {
            endAll();
            throw new UncheckedIOException("the ranks cannot be started", e);
        } catch (BackendUnavailable | RuntimeException | Broken e) {
            endAll();
            throw e;
        }
    }

    private Path folder() {
        return settings.output().resolve(settings.backend() + "-" + settings.ranks());
    }

    private Process startRank(int rank, int storePort, int kitPort, String token, Path log) throws IOException {
        List<String> flags = new ArrayList<>(FLAGS);
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

    private void connect(ServerSocket listener, String token, Map<Integer, Process> processes, Map<Integer, Path> logs, long deadline)
            throws IOException {
        listener.setSoTimeout(200);
        while (ranks.size() < settings.ranks()) {
            try {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(5_000);
                int rank = greeted(socket, token);
                if (rank >= 0) {
                    ranks.put(rank, new RankProcess(rank, processes.get(rank), logs.get(rank), socket));
                }
            } catch (java.net.SocketTimeoutException e) {
                for (int rank = 0; rank < settings.ranks(); rank++) {
                    if (!processes.get(rank).isAlive() && !ranks.containsKey(rank)) {
                        throw new Broken("rank " + rank + " ended with exit code " + processes.get(rank).exitValue()
                                + " before it could be talked to; its output: " + Files.readString(logs.get(rank)));
                    }
                }
                if (System.nanoTime() > deadline) {
                    throw new Broken("the ranks did not start within " + TckSettings.startTimeout().toSeconds() + " s; only "
                            + ranks.keySet() + " did");
                }
            }
        }
    }

    private static int greeted(Socket socket, String token) throws IOException {
        KitMessage hello = KitMessage.read(new DataInputStream(socket.getInputStream()));
        return Wire.read(hello.body(), in -> in.readUTF().equals(token) ? in.readInt() : -1);
    }

    private void awaitReady(long deadline) throws BackendUnavailable {
        for (RankProcess rank : ranks.values()) {
            KitMessage message = rank.receive(deadline)
                    .orElseThrow(() -> new Broken("rank " + rank.rank() + " did not open the backend: " + rank.end().orElse("it hangs")
                            + "; its output: " + String.join("\n", rank.lastLines())));
            if (message.kind() == KitMessage.UNAVAILABLE) {
                throw new BackendUnavailable(Wire.read(message.body(), in -> in.readUTF()));
            }
            RankReport said = RankReport.from(message.body());
            if (rank.rank() == 0) {
                report = said;
            }
        }
    }

    /**
     * Runs a rule on all ranks.
     *
     * @param rule       its id
     * @param body       what every rank does
     * @param mustBeKilled ranks that the rule kills, which must end by signal 9 and say nothing
     * @throws Broken if a rank says so, dies or hangs
     */
    void run(String rule, RankBody body, Set<Integer> mustBeKilled) throws BackendUnavailable {
        report();
        long seed = Long.getLong("symmem.tck.seed", System.nanoTime());
        byte[] order = Wire.write(out -> {
            out.writeUTF(rule + "-" + seed);
            out.writeLong(seed);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new ObjectOutputStream(bytes).writeObject(body);
            out.write(bytes.toByteArray());
        });
        long deadline = System.nanoTime() + TckSettings.ruleTimeout().toNanos();
        List<String> complaints = new ArrayList<>();
        boolean restart = !mustBeKilled.isEmpty();
        try (ExecutorService listeners = Executors.newVirtualThreadPerTaskExecutor()) {
            Map<RankProcess, Future<Optional<KitMessage>>> answers = new HashMap<>();
            for (RankProcess rank : ranks.values()) {
                rank.send(new KitMessage(KitMessage.RUN, order));
                answers.put(rank, listeners.submit(() -> rank.receive(deadline)));
            }
            for (RankProcess rank : ranks.values()) {
                Optional<KitMessage> answer = answers.get(rank).get();
                Optional<String> complaint = answer.isPresent() ? complaintOf(rank, answer.get(), mustBeKilled)
                        : silenceOf(rank, rule, mustBeKilled);
                restart |= answer.isEmpty() || complaint.isPresent();
                complaint.ifPresent(complaints::add);
            }
        } catch (IOException | java.util.concurrent.ExecutionException e) {
            restart = true;
            complaints.add("a rank cannot be talked to: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            complaints.add("interrupted");
        }
        if (restart) {
            // After a failure ranks may be at different places; new ones begin together.
            endAll();
        }
        if (!complaints.isEmpty()) {
            throw new Broken(String.join("\n", complaints));
        }
    }

    private Optional<String> complaintOf(RankProcess rank, KitMessage answer, Set<Integer> mustBeKilled) {
        RankOutcome outcome = RankOutcome.from(answer.body());
        if (mustBeKilled.contains(rank.rank())) {
            return Optional.of("rank " + rank.rank() + " should have been killed" + (outcome.passed() ? "" : ": " + outcome.message()));
        }
        return outcome.passed() ? Optional.empty() : Optional.of("rank " + rank.rank() + ": " + outcome.message() + "\n" + outcome.trace());
    }

    private Optional<String> silenceOf(RankProcess rank, String rule, Set<Integer> mustBeKilled) {
        Optional<String> end = rank.end();
        if (mustBeKilled.contains(rank.rank()) && end.equals(Optional.of("ended by signal 9"))) {
            return Optional.empty();
        }
        String how = end.orElse("gave no answer within " + TckSettings.ruleTimeout().toSeconds() + " s");
        return Optional.of("rank " + rank.rank() + " " + how + "; kept in " + keepEvidence(rank, rule) + "; its last output:\n"
                + String.join("\n", rank.lastLines()));
    }

    private Path keepEvidence(RankProcess rank, String rule) {
        Path kept = folder().resolve(rule);
        try {
            Files.createDirectories(kept);
            Files.writeString(kept.resolve("rank-" + rank.rank() + "-state.txt"), rank.evidence());
            Files.copy(rank.log(), kept.resolve("rank-" + rank.rank() + ".log"), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            return rank.log();
        }
        return kept;
    }

    private synchronized void endAll() {
        ranks.values().forEach(RankProcess::letGo);
        ranks.values().forEach(RankProcess::close);
        ranks.clear();
        closers.close();
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(atExit);
        endAll();
    }
}
