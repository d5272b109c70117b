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
import org.symmem.Support;
import org.symmem.spi.Backend;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.StreamQueue;

/** Backends that are right, with other capabilities than the host backend: no rule may fail over them. */
public enum Variant {
    /** Lacks everything that a backend may lack. */
    LACKS_EVERYTHING(new Change() {
        @Override
        public Map<Capability, Support> capabilities(Map<Capability, Support> right) {
            Map<Capability, Support> none = new EnumMap<>(Capability.class);
            for (Capability capability : Capability.values()) {
                none.put(capability, new Support.No("this variant lacks everything"));
            }
            return none;
        }

        @Override
        public Memory peer(PeerMapping right, int rank, int worldSize) {
            return new Unaddressed(right.peer(rank));
        }
    }),

    /** Has multicast, by as many copies as there are ranks, and native streams, by numbering its own. */
    HAS_EVERYTHING(new Change() {
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
        public Support multicastSupport(PeerMapping right) {
            return new Support.Yes("by copies");
        }

        @Override
        public Memory multicast(PeerMapping right, int worldSize) {
            return new Replicas(IntStream.range(0, worldSize).mapToObj(right::peer).toList());
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
    });

    private final Change change;

    Variant(Change change) {
        this.change = change;
    }

    Change change() {
        return change;
    }

    /** Memory that copies reach, and no plain address. */
    private record Unaddressed(Memory right) implements Memory {
        @Override
        public long address() {
            return 0;
        }

        @Override
        public long sizeBytes() {
            return right.sizeBytes();
        }

        @Override
        public Optional<MemorySegment> segment() {
            return right.segment();
        }
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
    private record Numbered(StreamQueue right, long handle, Runnable closer) implements StreamQueue {
        @Override
        public boolean synchronize(long timeoutNanos) {
            return right.synchronize(timeoutNanos);
        }

        @Override
        public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
            for (Memory one : target instanceof Replicas replicas ? replicas.all() : List.of(target)) {
                right.copy(one, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
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
