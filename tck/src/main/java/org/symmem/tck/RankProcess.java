package org.symmem.tck;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The kit's handle on one rank's process and its connection. */
final class RankProcess {
    /** How a process ends that aborts itself, by signal 6, as a JVM does that has crashed. */
    private static final int ABORTED = 128 + 6;

    private final int rank;
    private final Process process;
    private final Path log;
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final BlockingQueue<Heard> heard = new LinkedBlockingQueue<>();

    RankProcess(int rank, Process process, Path log, Socket socket) throws IOException {
        this.rank = rank;
        this.process = process;
        this.log = log;
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
        this.out = new DataOutputStream(socket.getOutputStream());
    }

    /** Begins to listen; whole messages only, so that no deadline can cut one in two. */
    void listen() {
        Thread.ofVirtual().name("from rank " + rank).start(() -> {
            try {
                while (true) {
                    heard.add(new Heard.Said(KitMessage.read(in)));
                }
            } catch (IOException e) {
                heard.add(new Heard.Gone());
            }
        });
    }

    int rank() {
        return rank;
    }

    void send(KitMessage message) throws IOException {
        message.write(out);
    }

    /** {@return the next thing that is heard within the time} */
    Heard hear(Duration howLong) {
        try {
            Heard next = heard.poll(howLong.toNanos(), TimeUnit.NANOSECONDS);
            if (next == null) {
                return new Heard.Nothing();
            }
            if (next instanceof Heard.Gone) {
                heard.add(next);
            }
            return next;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Heard.Nothing();
        }
    }

    /** {@return how the process ended, in words, if it has; waits a moment for it} */
    Optional<String> end() {
        try {
            if (!process.waitFor(TckSettings.answerTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
                return Optional.empty();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
        int code = process.exitValue();
        return Optional
                .of(code > 128 ? "ended by signal " + (code - 128) + (code == ABORTED ? fault() : "") : "ended with exit code " + code);
    }

    /** {@return the signal that made a JVM give up, and where, as it prints them in its account of the crash} */
    private String fault() {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
            String found = lines.stream()
                    .filter(line -> line.matches("# +(SIG[A-Z]+ \\(|[CVJj] +\\[).*"))
                    .map(line -> line.substring(1).strip())
                    .limit(2)
                    .collect(Collectors.joining(" in "));
            return found.isEmpty() ? "" : " after " + found;
        } catch (IOException e) {
            return "";
        }
    }

    /** Keeps what can be seen of the process, and what it printed, in a folder. */
    void keepEvidence(Path folder) throws IOException {
        // First the threads: a JVM that does not answer is asked by a signal, and prints them.
        Files.writeString(folder.resolve("rank-" + rank + "-state.txt"), state());
        Files.copy(log, folder.resolve("rank-" + rank + ".log"), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }

    private String state() {
        if (!process.isAlive()) {
            return end().orElse("is ending") + crash() + "\n";
        }
        return threads() + "descriptors:\n" + descriptors();
    }

    private String crash() {
        Path account = log.resolveSibling("crash-" + process.pid() + ".txt");
        return Files.exists(account) ? "; what the JVM says of its crash: " + account : "";
    }

    private String threads() {
        long deadline = System.nanoTime() + TckSettings.answerTimeout().toNanos();
        try {
            send(new KitMessage(KitMessage.DUMP, new byte[0]));
            while (true) {
                switch (hear(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) {
                    case Heard.Said said when said.message().kind() == KitMessage.DUMPED -> {
                        return new String(said.message().body(), StandardCharsets.UTF_8);
                    }
                    // Its verdict, which comes too late.
                    case Heard.Said late -> {
                        continue;
                    }
                    case Heard.Nothing nothing -> {
                        return printedThreads();
                    }
                    case Heard.Gone gone -> {
                        return "has closed its connection\n";
                    }
                }
            }
        } catch (IOException e) {
            return "cannot be asked what its threads do: " + e.getMessage() + "\n";
        }
    }

    private String printedThreads() {
        try {
            new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
            // The JVM prints at its next safepoint; a process that is stopped or stuck in native code may never.
            process.waitFor(TckSettings.answerTimeout().toMillis() / 4, TimeUnit.MILLISECONDS);
        } catch (IOException | InterruptedException e) {
            return "does not answer, and could not be sent a signal: " + e + "\n";
        }
        return "does not answer; was sent SIGQUIT, so its output has what its threads do if it can still print\n";
    }

    private String descriptors() {
        StringBuilder list = new StringBuilder();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/fd"))) {
            for (Path descriptor : descriptors) {
                list.append("    ").append(descriptor.getFileName()).append(" -> ").append(OpenResources.targetOf(descriptor)).append('\n');
            }
        } catch (IOException e) {
            list.append("    cannot be listed: ").append(e.getMessage()).append('\n');
        }
        return list.toString();
    }

    /** {@return the last lines of what the process printed} */
    List<String> lastLines() {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
            return lines.subList(Math.max(0, lines.size() - 20), lines.size());
        } catch (IOException e) {
            return List.of("its output cannot be read: " + e.getMessage());
        }
    }

    /** Asks the process to end, by closing its connection. */
    void letGo() {
        try {
            socket.close();
        } catch (IOException e) {
            // It is ended by force afterwards.
        }
    }
}
