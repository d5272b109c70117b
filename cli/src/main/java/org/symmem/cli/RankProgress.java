package org.symmem.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** How far all ranks are: a bar for whoever looks at a terminal, and a watch for ranks that have stopped. Used by several threads. */
final class RankProgress implements AutoCloseable {
    private static final int WIDTH = 79;

    private final long[] done;
    private final long[] total;
    private final boolean[] ready;
    private final Optional<ProgressBar> bar;
    private long changedAt = System.nanoTime();

    private RankProgress(int ranks, ProgressBarBuilder builder) {
        this.done = new long[ranks];
        this.total = new long[ranks];
        this.ready = new boolean[ranks];
        this.bar = errorsGoToATerminal() ? Optional.of(builder.setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(200)
                .setConsumer(new ConsoleProgressBarConsumer(System.err, WIDTH))
                .clearDisplayOnFinish()
                .build()) : Optional.empty();
    }

    /**
     * @param task  what is done, in a word
     * @param bytes of all ranks together
     */
    static RankProgress ofBytes(String task, int ranks, long bytes) {
        return new RankProgress(ranks, new ProgressBarBuilder().setTaskName(task).setInitialMax(bytes).setUnit(" MiB", 1 << 20));
    }

    /**
     * @param task  what is done, in a word
     * @param steps of all ranks together
     */
    static RankProgress ofSteps(String task, int ranks, long steps) {
        return new RankProgress(ranks, new ProgressBarBuilder().setTaskName(task).setInitialMax(steps));
    }

    /** {@code System.console()} asks about standard input and output, which may be files here. */
    private static boolean errorsGoToATerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    synchronized void set(int rank, RankMessage.Progress progress) {
        if (progress.done() == done[rank] && total[rank] != 0) {
            return;
        }
        changedAt = System.nanoTime();
        done[rank] = progress.done();
        total[rank] = progress.total();
        bar.ifPresent(shown -> {
            long sum = 0;
            for (long ofRank : done) {
                sum += ofRank;
            }
            shown.stepTo(sum);
        });
    }

    synchronized void ready(int rank) {
        changedAt = System.nanoTime();
        ready[rank] = true;
    }

    /** {@return how long nothing has happened} */
    synchronized long idleNanos() {
        return System.nanoTime() - changedAt;
    }

    /** {@return the ranks that are not ready, and how far each is} */
    synchronized String unready() {
        List<String> ranks = new ArrayList<>();
        for (int rank = 0; rank < ready.length; rank++) {
            if (!ready[rank]) {
                ranks.add("rank " + rank + (total[rank] == 0 ? " (nothing heard of it)"
                        : " (at " + done[rank] + " of " + total[rank] + ")"));
            }
        }
        return String.join(", ", ranks);
    }

    @Override
    public void close() {
        bar.ifPresent(ProgressBar::close);
    }
}
