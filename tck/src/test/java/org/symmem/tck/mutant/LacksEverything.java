package org.symmem.tck.mutant;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.symmem.Capability;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;

/** Takes all capabilities from the host backend. */
class LacksEverything implements Change {
    @Override
    public Map<Capability, Support> capabilities(Map<Capability, Support> right) {
        Map<Capability, Support> none = new EnumMap<>(Capability.class);
        for (Capability capability : Capability.values()) {
            none.put(capability, new Support.No("this variant lacks everything"));
        }
        return none;
    }

    @Override
    public Memory peer(PeerMapping right, int rank, ProcessGroup group) {
        return new Unaddressed(right.peer(rank));
    }

    /** Memory that copies reach, and no plain address. */
    record Unaddressed(Memory right) implements Memory {
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
}
