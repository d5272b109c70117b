package org.symmem.tck;

import java.util.EnumMap;
import java.util.Map;
import org.symmem.Capability;
import org.symmem.Support;
import org.symmem.SymmetricMemory;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.Wire;

/**
 * What a rank says about itself when the backend is open.
 *
 * @param pid          its process
 * @param host         its host
 * @param device       its device in words
 * @param capabilities what all ranks can do
 */
record RankReport(long pid, String host, String device, Map<Capability, Support> capabilities) {
    static RankReport of(SymmetricMemory memory) {
        Map<Capability, Support> capabilities = new EnumMap<>(Capability.class);
        for (Capability capability : Capability.values()) {
            capabilities.put(capability, memory.capability(capability));
        }
        return new RankReport(ProcessHandle.current().pid(), HostIdentity.local().name(), memory.device(), capabilities);
    }

    byte[] toBytes() {
        return Wire.write(out -> {
            out.writeLong(pid);
            out.writeUTF(host);
            out.writeUTF(device);
            for (Capability capability : Capability.values()) {
                out.writeBoolean(capabilities.get(capability).supported());
                out.writeUTF(capabilities.get(capability).explanation());
            }
        });
    }

    static RankReport from(byte[] bytes) {
        return Wire.read(bytes, in -> {
            long pid = in.readLong();
            String host = in.readUTF();
            String device = in.readUTF();
            Map<Capability, Support> capabilities = new EnumMap<>(Capability.class);
            for (Capability capability : Capability.values()) {
                boolean supported = in.readBoolean();
                String explanation = in.readUTF();
                capabilities.put(capability, supported ? new Support.Yes(explanation) : new Support.No(explanation));
            }
            return new RankReport(pid, host, device, capabilities);
        });
    }
}
