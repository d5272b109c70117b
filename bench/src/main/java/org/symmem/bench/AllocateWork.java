package org.symmem.bench;

import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.SymmetricTensor;

/** What comes before the first copy: each call makes a tensor of its own, of which only the one step is timed. */
final class AllocateWork implements Work {
    private final Setting setting;
    private final long bytes;
    private final boolean timesRendezvous;

    private AllocateWork(Setting setting, long bytes, boolean timesRendezvous) {
        this.setting = setting;
        this.bytes = bytes;
        this.timesRendezvous = timesRendezvous;
    }

    static Work allocating(Setting setting, long bytes) {
        return new AllocateWork(setting, bytes, false);
    }

    static Work meeting(Setting setting, long bytes) {
        return new AllocateWork(setting, bytes, true);
    }

    @Override
    public long nanos(int calls) {
        long nanos = 0;
        for (int i = 0; i < calls; i++) {
            // No rank may still be closing the tensor before: a driver does one such thing at a time.
            setting.meet();
            long start = System.nanoTime();
            try (SymmetricTensor tensor = setting.memory().allocate(Shape.of(bytes), DataType.UINT8)) {
                if (timesRendezvous) {
                    setting.meet();
                    start = System.nanoTime();
                    tensor.rendezvous();
                }
                nanos += System.nanoTime() - start;
                setting.meet();
            }
        }
        return nanos;
    }

    @Override
    public void close() {
        // Each call has closed its own.
    }
}
