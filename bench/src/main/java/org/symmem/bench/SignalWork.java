package org.symmem.bench;

import java.util.function.IntConsumer;
import org.symmem.Capability;
import org.symmem.Signals;
import org.symmem.SymmetricTensor;

/** Signals and barriers: by the CPU where the CPU reaches the memory, else on a stream. */
final class SignalWork implements Work {
    private static final int CHANNEL = 1;

    private final Setting setting;
    private final SymmetricTensor tensor;
    private final boolean onStream;
    private final IntConsumer loop;

    private SignalWork(Setting setting, SymmetricTensor tensor, boolean onStream, IntConsumer loop) {
        this.setting = setting;
        this.tensor = tensor;
        this.onStream = onStream;
        this.loop = loop;
    }

    @FunctionalInterface
    private interface Making {
        IntConsumer loop(Signals signals, boolean onStream);
    }

    private static Work of(Setting setting, Making making) {
        boolean onStream = setting.onStream() || !setting.memory().capability(Capability.HOST_SIGNALS).supported();
        SymmetricTensor tensor = setting.tensor(8);
        return new SignalWork(setting, tensor, onStream, making.loop(tensor.signals(), onStream));
    }

    static Work roundTrip(Setting setting, long bytes) {
        int peer = 1 - setting.rank();
        return of(setting, (signals, onStream) -> switch (setting.rank()) {
            case 0 -> onStream ? calls -> {
                for (int i = 0; i < calls; i++) {
                    signals.signal(peer, CHANNEL, setting.stream());
                    signals.await(peer, CHANNEL, setting.stream(), Setting.PATIENCE);
                }
            } : calls -> {
                for (int i = 0; i < calls; i++) {
                    signals.signal(peer, CHANNEL);
                    signals.await(peer, CHANNEL, Setting.PATIENCE);
                }
            };
            case 1 -> onStream ? calls -> {
                for (int i = 0; i < calls; i++) {
                    signals.await(peer, CHANNEL, setting.stream(), Setting.PATIENCE);
                    signals.signal(peer, CHANNEL, setting.stream());
                }
            } : calls -> {
                for (int i = 0; i < calls; i++) {
                    signals.await(peer, CHANNEL, Setting.PATIENCE);
                    signals.signal(peer, CHANNEL);
                }
            };
            default -> calls -> {};
        });
    }

    static Work barrier(Setting setting, long bytes) {
        return of(setting, (signals, onStream) -> onStream ? calls -> {
            for (int i = 0; i < calls; i++) {
                signals.barrier(CHANNEL, setting.stream(), Setting.PATIENCE);
            }
        } : calls -> {
            for (int i = 0; i < calls; i++) {
                signals.barrier(CHANNEL, Setting.PATIENCE);
            }
        });
    }

    @Override
    public long nanos(int calls) {
        // One call that is not timed: after it the ranks are at the same place.
        loop.accept(1);
        if (onStream) {
            setting.settle();
        }
        long start = System.nanoTime();
        loop.accept(calls);
        if (onStream) {
            setting.settle();
        }
        return System.nanoTime() - start;
    }

    @Override
    public void close() {
        setting.meet();
        tensor.close();
    }
}
