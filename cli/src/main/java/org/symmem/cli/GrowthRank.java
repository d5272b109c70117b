package org.symmem.cli;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.symmem.ProcessGroup;
import org.symmem.bench.Growth;
import org.symmem.bench.GrowthProbe;
import org.symmem.rendezvous.LocalLauncher;

/** One rank of the measurement of growth, in a process of its own. */
final class GrowthRank {
    /** About so many. */
    static final int STEPS = 70;

    private GrowthRank() {}

    /** @param arguments whether bandwidth is measured with every number of senders */
    public static void main(String[] arguments) {
        LocalLauncher.endWithLauncher(() -> {});
        RankMain.run(() -> {
            try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
                AtomicLong steps = new AtomicLong();
                List<Growth.Point> points = GrowthProbe.measure(group, Boolean.parseBoolean(arguments[0]),
                        () -> new RankMessage.Progress(steps.incrementAndGet(), STEPS).print());
                if (group.rank() == 0) {
                    points.forEach(point -> new RankMessage.Grown(point).print());
                }
            }
        });
    }
}
