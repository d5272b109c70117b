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

    private final long[] doneBytes;
    private final long[] totalBytes;
    private final boolean[] ready;
    private final Optional<ProgressBar> bar;
    private long changedAt = System.nanoTime();

    /** @param fileBytes what each rank reads; 0 for work that is not counted in bytes, which gets no bar */
    RankProgress(int ranks, long fileBytes) {
        this.doneBytes = new long[ranks];
        this.totalBytes = new long[ranks];
        this.ready = new boolean[ranks];
        this.bar = fileBytes > 0 && errorsGoToATerminal() ? Optional.of(barFor(fileBytes * (1 + 2L * ranks))) : Optional.empty();
    }

    private static ProgressBar barFor(long bytes) {
        return new ProgressBarBuilder()
                .setTaskName("sharing")
                .setInitialMax(bytes)
                .setUnit(" MiB", 1 << 20)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(200)
                .setConsumer(new ConsoleProgressBarConsumer(System.err, WIDTH))
                .clearDisplayOnFinish()
                .build();
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
        if (progress.doneBytes() == doneBytes[rank] && totalBytes[rank] != 0) {
            return;
        }
        changedAt = System.nanoTime();
        doneBytes[rank] = progress.doneBytes();
        totalBytes[rank] = progress.totalBytes();
        bar.ifPresent(shown -> {
            long done = 0;
            for (long bytes : doneBytes) {
                done += bytes;
            }
            shown.stepTo(done);
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
                ranks.add("rank " + rank + (totalBytes[rank] == 0 ? " (nothing heard of it)"
                        : " (at " + doneBytes[rank] + " of " + totalBytes[rank] + " bytes)"));
            }
        }
        return String.join(", ", ranks);
    }

    @Override
    public void close() {
        bar.ifPresent(ProgressBar::close);
    }
}
