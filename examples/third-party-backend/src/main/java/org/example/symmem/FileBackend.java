package org.example.symmem;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.symmem.Capability;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.Memory;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** One rank's side. What it lacks it says here, with the reason; it is then never asked for it. */
final class FileBackend implements Backend {
    private static final long PAGE_BYTES = 4096;

    private final ProcessGroup group;

    FileBackend(ProcessGroup group) {
        this.group = group;
    }

    @Override
    public String device() {
        return "mapped files";
    }

    @Override
    public Map<Capability, Support> capabilities() {
        Support yes = new Support.Yes("mapped files");
        Map<Capability, Support> all = new EnumMap<>(Capability.class);
        for (Capability there : List.of(Capability.HOST_ACCESS, Capability.PEER_ADDRESS, Capability.LOCAL_ALLOCATION,
                Capability.LOCAL_CLOSE, Capability.HOST_SIGNALS, Capability.SUBGROUPS, Capability.THREAD_RANKS,
                Capability.SHARED_DEVICE)) {
            all.put(there, yes);
        }
        all.put(Capability.CONTIGUOUS_VIEW, new Support.No("the JDK does not map a file at an address of one's choice"));
        all.put(Capability.MULTICAST, new Support.No("no store reaches several files"));
        all.put(Capability.WRAP, new Support.No("a buffer must be in a file of this backend"));
        all.put(Capability.EXTERNAL_STREAM, new Support.No("a stream here is a thread"));
        all.put(Capability.STREAM_SIGNALS, new Support.No("not written yet"));
        all.put(Capability.MULTIPLE_HOSTS, new Support.No("files are mapped on one host"));
        return all;
    }

    @Override
    public long granularityBytes() {
        return PAGE_BYTES;
    }

    @Override
    public Allocation allocate(long sizeBytes, SignalPadLayout pad) {
        return FileAllocation.allocate(group.rank(), sizeBytes, PAGE_BYTES, pad);
    }

    @Override
    public StreamQueue newStream() {
        return new ThreadStream();
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        Bytes.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        Bytes.fill(target, offsetBytes, elements, elementBits, elementSize);
    }

    @Override
    public void close() {
        // Nothing is open but what allocations and streams hold.
    }
}
