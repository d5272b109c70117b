package org.symmem.bench;

import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.collectives.Collective;
import org.symmem.collectives.Collectives;
import org.symmem.spi.Closers;

/** Broadcast and allgather, back to back: blocking where the CPU reaches the memory, else on a stream. All ranks take part. */
final class CollectiveWork implements Work {
    private final Setting setting;
    private final Closers owned;
    private final IntConsumer loop;

    private CollectiveWork(Setting setting, Closers owned, IntConsumer loop) {
        this.setting = setting;
        this.owned = owned;
        this.loop = loop;
    }

    static Work broadcast(Setting setting, long bytes) {
        return of(setting, bytes, Shape.of(bytes), (collectives, target) -> collectives.broadcast(target, 0), setting.rank() == 0);
    }

    static Work allGather(Setting setting, long bytes) {
        return of(setting, bytes, Shape.of(setting.worldSize(), bytes), Collectives::allGather, true);
    }

    @FunctionalInterface
    private interface Making {
        Collective of(Collectives collectives, SymmetricTensor target);
    }

    private static Work of(Setting setting, long bytes, Shape targetShape, Making making, boolean sends) {
        Closers owned = new Closers();
        try {
            SymmetricTensor source = owned.add(setting.memory().allocate(Shape.of(bytes), DataType.UINT8));
            source.local().fill(setting.rank() + 1);
            SymmetricTensor target = owned.add(setting.memory().allocate(targetShape, DataType.UINT8));
            Collective collective = making.of(owned.add(Collectives.of(setting.memory())), target);
            return new CollectiveWork(setting, owned, loop(setting, collective, sends ? source.local() : null));
        } catch (Throwable e) {
            owned.closeBecauseOf(e);
            throw e;
        }
    }

    private static IntConsumer loop(Setting setting, Collective collective, @Nullable TensorView source) {
        Consumer<Collective> round = setting.onStream() ? one -> one.run(source, setting.stream(), Setting.PATIENCE)
                : one -> one.run(source, Setting.PATIENCE);
        return calls -> {
            for (int i = 0; i < calls; i++) {
                round.accept(collective);
            }
            if (setting.onStream()) {
                setting.settle();
            }
        };
    }

    @Override
    public long nanos(int calls) {
        // One call that is not timed: after it the ranks are at the same place.
        loop.accept(1);
        long start = System.nanoTime();
        loop.accept(calls);
        return System.nanoTime() - start;
    }

    @Override
    public void close() {
        setting.meet();
        owned.close();
    }
}
