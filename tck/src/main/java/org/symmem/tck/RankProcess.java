package org.symmem.tck;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The kit's handle on one rank's process and its connection. */
final class RankProcess implements AutoCloseable {
    private final int rank;
    private final Process process;
    private final Path log;
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    RankProcess(int rank, Process process, Path log, Socket socket) throws IOException {
        this.rank = rank;
        this.process = process;
        this.log = log;
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
        this.out = new DataOutputStream(socket.getOutputStream());
    }

    int rank() {
        return rank;
    }

    Path log() {
        return log;
    }

    void send(KitMessage message) throws IOException {
        message.write(out);
    }

    /** {@return the next message, or empty if the rank's connection ended or the deadline passed} */
    Optional<KitMessage> receive(long deadline) {
        try {
            socket.setSoTimeout((int) Math.max(1, Math.min(Integer.MAX_VALUE, (deadline - System.nanoTime()) / 1_000_000)));
            return Optional.of(KitMessage.read(in));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** {@return how the process ended, in words, if it has; waits a moment for it} */
    Optional<String> end() {
        try {
            if (!process.waitFor(2, TimeUnit.SECONDS)) {
                return Optional.empty();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
        int code = process.exitValue();
        return Optional.of(code > 128 ? "ended by signal " + (code - 128) : "ended with exit code " + code);
    }

    /** {@return what can be seen of a process that hangs: its threads and its descriptors} */
    String evidence() {
        StringBuilder evidence = new StringBuilder();
        if (process.isAlive()) {
            try {
                send(new KitMessage(KitMessage.DUMP, new byte[0]));
                long deadline = System.nanoTime() + Duration.ofSeconds(2).toNanos();
                Optional<KitMessage> answer = receive(deadline);
                evidence.append(answer.map(dump -> new String(dump.body(), java.nio.charset.StandardCharsets.UTF_8))
                        .orElse("it does not say what its threads do\n"));
            } catch (IOException e) {
                evidence.append("it cannot be asked what its threads do: ").append(e.getMessage()).append('\n');
            }
            evidence.append("descriptors:\n");
            try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/fd"))) {
                for (Path descriptor : descriptors) {
                    evidence.append("    ")
                            .append(descriptor.getFileName())
                            .append(" -> ")
                            .append(Files.readSymbolicLink(descriptor))
                            .append('\n');
                }
            } catch (IOException e) {
                evidence.append("    cannot be listed: ").append(e.getMessage()).append('\n');
            }
        }
        return evidence.toString();
    }

    /** {@return the last lines of what the process printed} */
    List<String> lastLines() {
        try {
            List<String> lines = Files.readAllLines(log, java.nio.charset.StandardCharsets.ISO_8859_1);
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
            // It is ended by force below.
        }
    }

    @Override
    public void close() {
        letGo();
        try {
            if (!process.waitFor(3, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
