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

/** Ranks of this program as processes: hears what they say, and ends them when they stop without saying anything. Used once. */
final class RankJob {
    /** Ranks that wait for each other give up first, for they know what for. */
    private static final Duration BEFORE_RANKS_ARE_ENDED = Duration.ofSeconds(5);

    private final int ranks;
    private final Duration patience;
    private final RankProgress progress;
    private final BiConsumer<Integer, RankMessage> listener;
    private final Map<Integer, RankMessage.Failure> failures = new TreeMap<>();

    /**
     * @param ranks    how many
     * @param patience how long they may go without progress
     * @param progress hears how far they are; the caller closes it
     * @param listener hears the other messages, but for failures; called by one thread at a time
     */
    RankJob(int ranks, Duration patience, RankProgress progress, BiConsumer<Integer, RankMessage> listener) {
        this.ranks = ranks;
        this.patience = patience.plus(BEFORE_RANKS_ARE_ENDED);
        this.progress = progress;
        this.listener = listener;
    }

    /**
     * Blocks until all ranks have ended well.
     *
     * @throws FailureException if one did not; says which and why, and none is left
     */
    void run(List<String> command) throws IOException {
        AtomicReference<String> stopped = new AtomicReference<>();
        Thread watch = watch(stopped);
        LocalLauncher.Outcome outcome;
        try {
            outcome = new LocalLauncher(ranks, Map.of(), (rank, line, isError) -> hear(rank, line)).run(rank -> command);
        } catch (InterruptedException e) {
            throw new FailureException(1, Optional.ofNullable(stopped.get()).orElse("interrupted"));
        } finally {
            watch.interrupt();
        }
        if (outcome.failedRank().isPresent()) {
            throw new FailureException(outcome.exitCode(), failureOf(outcome));
        }
    }

    /** Interrupts the calling thread if the ranks stop without saying anything. */
    private Thread watch(AtomicReference<String> stopped) {
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
        synchronized (failures) {
            switch (heard.message().orElse(null)) {
                case RankMessage.Progress news -> progress.set(rank, news);
                case RankMessage.Failure failure -> failures.put(rank, failure);
                case null -> {
                    // It was output only.
                }
                case RankMessage message -> listener.accept(rank, message);
            }
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
