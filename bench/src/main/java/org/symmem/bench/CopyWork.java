package org.symmem.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.IntConsumer;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.spi.Closers;

/** Copies by rank 0 alone, while the other ranks sleep. Each kind has a loop of its own, so that none is compiled for all. */
final class CopyWork implements Work {
    /** Words of a cache line, to which stores go in turns. */
    private static final int STORE_PLACES = 8;

    private final Setting setting;
    private final IntConsumer loop;
    private final Closers owned;

    private CopyWork(Setting setting, Closers owned, IntConsumer loop) {
        this.setting = setting;
        this.owned = owned;
        this.loop = loop;
    }

    /** Makes the loop out of what it copies between; the resources are closed with the work, or at once if making it fails. */
    @FunctionalInterface
    private interface Making {
        IntConsumer loop(Closers owned);
    }

    private static Work of(Setting setting, Making making) {
        Closers owned = new Closers();
        try {
            return new CopyWork(setting, owned, making.loop(owned));
        } catch (Throwable e) {
            owned.closeBecauseOf(e);
            throw e;
        }
    }

    static Work local(Setting setting, long bytes) {
        return of(setting, owned -> {
            SymmetricTensor tensor = owned.add(setting.tensor(bytes));
            if (setting.onStream()) {
                return enqueuing(tensor.local(), owned.add(setting.tensor(bytes)).local(), setting.stream());
            }
            return putting(tensor.local(), plain(setting, owned, bytes));
        });
    }

    static Work put(Setting setting, long bytes) {
        return of(setting, owned -> {
            TensorView peer = owned.add(setting.tensor(bytes)).remote(setting.next());
            if (setting.onStream()) {
                return enqueuing(peer, owned.add(setting.tensor(bytes)).local(), setting.stream());
            }
            return putting(peer, plain(setting, owned, bytes));
        });
    }

    /** As a user of plain addresses writes it. Each goes to another place than the one before, so that none may be left out. */
    static Work store(Setting setting, long bytes) {
        return of(setting, owned -> {
            MemorySegment peer = owned.add(setting.tensor(STORE_PLACES * Long.BYTES)).remote(setting.next()).segment();
            return calls -> {
                for (int i = 0; i < calls; i++) {
                    peer.set(ValueLayout.JAVA_LONG, (i & STORE_PLACES - 1L) * Long.BYTES, i);
                }
            };
        });
    }

    static Work get(Setting setting, long bytes) {
        return of(setting, owned -> {
            TensorView peer = owned.add(setting.tensor(bytes)).remote(setting.next());
            if (setting.onStream()) {
                return enqueuing(owned.add(setting.tensor(bytes)).local(), peer, setting.stream());
            }
            return getting(peer, plain(setting, owned, bytes));
        });
    }

    static Work contiguous(Setting setting, long bytes) {
        return of(setting, owned -> {
            TensorView all = owned.add(setting.tensor(bytes)).contiguousView();
            if (setting.onStream()) {
                SymmetricTensor target = owned
                        .add(setting.memory().allocate(Shape.of(setting.worldSize(), bytes), DataType.UINT8));
                return enqueuing(target.local(), all, setting.stream());
            }
            return getting(all, plain(setting, owned, bytes * setting.worldSize()));
        });
    }

    private static MemorySegment plain(Setting setting, Closers owned, long bytes) {
        // Only rank 0 copies, and the others must not take its memory away.
        Arena arena = owned.add(Arena.ofShared());
        return setting.rank() == 0 ? Setting.plain(arena, bytes) : MemorySegment.NULL;
    }

    private static IntConsumer putting(TensorView target, MemorySegment source) {
        return calls -> {
            for (int i = 0; i < calls; i++) {
                target.copyFrom(source);
            }
        };
    }

    private static IntConsumer getting(TensorView source, MemorySegment target) {
        return calls -> {
            for (int i = 0; i < calls; i++) {
                source.copyTo(target);
            }
        };
    }

    private static IntConsumer enqueuing(TensorView target, TensorView source, Stream stream) {
        return calls -> {
            for (int i = 0; i < calls; i++) {
                target.copyFrom(source, stream);
            }
        };
    }

    @Override
    public long nanos(int calls) {
        if (setting.rank() != 0) {
            return 0;
        }
        long start = System.nanoTime();
        loop.accept(calls);
        if (setting.onStream()) {
            setting.settle();
        }
        return System.nanoTime() - start;
    }

    @Override
    public void close() {
        // Where closing is collective all must be done with it.
        setting.meet();
        owned.close();
    }
}
