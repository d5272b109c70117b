package org.symmem.tck.mutant;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** The host backend, wrapped at each of its objects so that a change can take the place of a step. */
record MutantBackend(Backend right, Change change, ProcessGroup group) implements Backend {
    @Override
    public String device() {
        return right.device();
    }

    @Override
    public @Nullable Map<Capability, Support> capabilities() {
        return change.capabilities(right.capabilities());
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return change.meeting(right.meetingGroup(joined));
    }

    @Override
    public long granularityBytes() {
        return right.granularityBytes();
    }

    @Override
    public @Nullable Allocation allocate(long sizeBytes, SignalPadLayout pad) {
        Allocation allocation = change.allocate(right, sizeBytes, pad);
        return allocation == null ? null : new MutantAllocation(allocation, sizeBytes);
    }

    @Override
    public GlobalAllocation allocateGlobal(long sizeBytes) {
        return change.allocateGlobal(right, sizeBytes);
    }

    @Override
    public List<String> validate(MemoryRegion region, long sizeBytes) {
        return change.validate(right, region, sizeBytes);
    }

    @Override
    public Allocation wrap(MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        return new MutantAllocation(change.wrap(right, region, sizeBytes, pad), sizeBytes);
    }

    @Override
    public StreamQueue newStream() {
        return change.stream(right.newStream());
    }

    @Override
    public StreamQueue wrapStream(long handle) {
        return change.wrapStream(right, handle);
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        change.copy(right, target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        change.fill(right, target, offsetBytes, elements, elementBits, elementSize);
    }

    @Override
    public void close() {
        change.closeBackend(right);
    }

    private final class MutantAllocation implements Allocation {
        private final Allocation rightAllocation;
        private final long sizeBytes;

        MutantAllocation(Allocation rightAllocation, long sizeBytes) {
            this.rightAllocation = rightAllocation;
            this.sizeBytes = sizeBytes;
        }

        @Override
        public Memory local() {
            return change.local(rightAllocation);
        }

        @Override
        public PeerMapping rendezvous(Agreement agreement) {
            change.rendezvous(group, agreement);
            return new MutantMapping(rightAllocation.rendezvous(agreement), sizeBytes);
        }

        @Override
        public void close() {
            change.closeAllocation(rightAllocation);
        }
    }

    private final class MutantMapping implements PeerMapping {
        private final PeerMapping rightMapping;
        private final long sizeBytes;

        MutantMapping(PeerMapping rightMapping, long sizeBytes) {
            this.rightMapping = rightMapping;
            this.sizeBytes = sizeBytes;
        }

        @Override
        public @Nullable Memory peer(int rank) {
            return change.peer(rightMapping, rank, group);
        }

        @Override
        public SignalPad signals() {
            return new MutantPad(rightMapping);
        }

        @Override
        public Memory contiguous() {
            return change.contiguous(rightMapping, group.worldSize());
        }

        @Override
        public long contiguousStrideBytes() {
            return change.contiguousStrideBytes(rightMapping, sizeBytes);
        }

        @Override
        public Support multicastSupport() {
            return change.multicastSupport(rightMapping, group);
        }

        @Override
        public Memory multicast() {
            return change.multicast(rightMapping, group.worldSize());
        }

        @Override
        public void close() {
            change.closeMapping(rightMapping, group);
        }
    }

    private final class MutantPad implements SignalPad {
        private final PeerMapping mapping;
        private final SignalPad rightPad;

        MutantPad(PeerMapping mapping) {
            this.mapping = mapping;
            this.rightPad = mapping.signals();
        }

        @Override
        public void signal(int peer, int channel) {
            change.signal(rightPad, peer, channel);
            change.signalled(mapping, peer, channel);
        }

        @Override
        public boolean await(int source, int channel, long timeoutNanos) {
            return change.await(rightPad, source, channel, timeoutNanos);
        }

        @Override
        public int[] barrier(int channel, long timeoutNanos) {
            change.atBarrier(mapping, group, channel);
            return change.barrier(rightPad, channel, timeoutNanos);
        }

        @Override
        public void signal(int peer, int channel, StreamQueue stream) {
            change.signal(rightPad, peer, channel, change.rightOf(stream));
        }

        @Override
        public void await(int source, int channel, StreamQueue stream, long timeoutNanos) {
            change.await(rightPad, source, channel, change.rightOf(stream), timeoutNanos);
        }

        @Override
        public void barrier(int channel, StreamQueue stream, long timeoutNanos) {
            rightPad.barrier(channel, change.rightOf(stream), timeoutNanos);
        }
    }
}
