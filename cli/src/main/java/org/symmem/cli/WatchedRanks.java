package org.symmem.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.symmem.rendezvous.LocalLauncher;

/** Ranks as processes that tell this one how far they are and what they found; they are ended when they stop to. */
final class WatchedRanks {
    /** Ranks that wait for each other give up first, for they know what for. */
    private static final Duration BEFORE_RANKS_ARE_ENDED = Duration.ofSeconds(5);

    private final int number;
    private final RankProgress progress;
    private final Duration patience;
    private final BiConsumer<Integer, RankMessage> listener;
    private final Map<Integer, RankMessage.Failure> failures = new TreeMap<>();

    /**
     * @param patience how long nothing may happen, and a bit longer
     * @param listener hears what ranks found, from several threads
     */
    WatchedRanks(int number, RankProgress progress, Duration patience, BiConsumer<Integer, RankMessage> listener) {
        this.number = number;
        this.progress = progress;
        this.patience = patience;
        this.listener = listener;
    }

    /**
     * Runs a command on every rank to its end.
     *
     * @throws FailureException if a rank failed, with what it said
     */
    void run(List<String> command) throws IOException {
        LocalLauncher.Outcome outcome = launch(command);
        if (outcome.failedRank().isPresent()) {
            throw new FailureException(outcome.exitCode(), failureOf(outcome));
        }
    }

    private LocalLauncher.Outcome launch(List<String> command) throws IOException {
        AtomicReference<String> stopped = new AtomicReference<>();
        Thread watch = watchOver(progress, patience.plus(BEFORE_RANKS_ARE_ENDED), stopped);
        try {
            return new LocalLauncher(number, Map.of(), (rank, line, isError) -> hear(rank, line)).run(rank -> command);
        } catch (InterruptedException e) {
            throw new FailureException(1, Optional.ofNullable(stopped.get()).orElse("interrupted"));
        } finally {
            watch.interrupt();
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

    private void hear(int rank, String line) {
        RankMessage.Line heard = RankMessage.in(line);
        if (heard.message().isEmpty() || !heard.text().isEmpty()) {
            System.err.println("[" + rank + "] " + heard.text());
        }
        switch (heard.message().orElse(null)) {
            case RankMessage.Progress news -> progress.set(rank, news);
            case RankMessage.Failure failure -> {
                synchronized (failures) {
                    failures.put(rank, failure);
                }
            }
            case null -> {
                // It was output only.
            }
            case RankMessage result -> listener.accept(rank, result);
        }
    }

    /** All ranks say the same of a collective failure; the reader needs it once. */
    private String failureOf(LocalLauncher.Outcome outcome) {
        int first = outcome.failedRank().orElseThrow();
        synchronized (failures) {
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
}
