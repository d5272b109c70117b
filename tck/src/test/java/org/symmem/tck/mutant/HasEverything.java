package org.symmem.tck.mutant;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.symmem.Capability;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.spi.Backend;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.StreamQueue;

/** Adds to the host backend multicast by copies, and handles of streams by number. */
class HasEverything implements Change {
    private final Map<Long, StreamQueue> byHandle = new ConcurrentHashMap<>();
    private final AtomicLong handles = new AtomicLong();

    @Override
    public Map<Capability, Support> capabilities(Map<Capability, Support> right) {
        Map<Capability, Support> all = new EnumMap<>(right);
        all.put(Capability.MULTICAST, new Support.Yes("by copies"));
        all.put(Capability.EXTERNAL_STREAM, new Support.Yes("by number"));
        return all;
    }

    @Override
    public Support multicastSupport(PeerMapping right, ProcessGroup group) {
        return new Support.Yes("by copies");
    }

    @Override
    public Memory multicast(PeerMapping right, int worldSize) {
        return new Replicas(IntStream.range(0, worldSize).mapToObj(right::peer).toList());
    }

    /** {@return where in each buffer a block goes that is meant for an offset} */
    long multicastOffset(long offsetBytes) {
        return offsetBytes;
    }

    @Override
    public StreamQueue stream(StreamQueue right) {
        long handle = handles.incrementAndGet();
        byHandle.put(handle, right);
        return new Numbered(right, handle, () -> {
            byHandle.remove(handle);
            right.close();
        });
    }

    @Override
    public StreamQueue rightOf(StreamQueue stream) {
        return ((Numbered) stream).right();
    }

    @Override
    public StreamQueue wrapStream(Backend right, long handle) {
        return new Numbered(byHandle.get(handle), handle, () -> {});
    }

    /** Every rank's buffer, as the target of copies. */
    private record Replicas(List<Memory> all) implements Memory {
        @Override
        public long address() {
            return all.getFirst().address();
        }

        @Override
        public long sizeBytes() {
            return all.getFirst().sizeBytes();
        }

        @Override
        public Optional<MemorySegment> segment() {
            return Optional.empty();
        }
    }

    /** A queue with a handle. */
    private final class Numbered implements StreamQueue {
        private final StreamQueue right;
        private final long handle;
        private final Runnable closer;

        Numbered(StreamQueue right, long handle, Runnable closer) {
            this.right = right;
            this.handle = handle;
            this.closer = closer;
        }

        StreamQueue right() {
            return right;
        }

        @Override
        public long handle() {
            return handle;
        }

        @Override
        public boolean synchronize(long timeoutNanos) {
            return right.synchronize(timeoutNanos);
        }

        @Override
        public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
            if (!(target instanceof Replicas replicas)) {
                right.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
                return;
            }
            for (Memory one : replicas.all()) {
                right.copy(one, multicastOffset(targetOffsetBytes), source, sourceOffsetBytes, sizeBytes);
            }
        }

        @Override
        public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
            right.fill(target, offsetBytes, elements, elementBits, elementSize);
        }

        @Override
        public void close() {
            closer.run();
        }
    }
}
