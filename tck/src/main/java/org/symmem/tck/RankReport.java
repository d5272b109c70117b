package org.symmem.tck;

import java.util.EnumMap;
import java.util.Map;
import org.symmem.Availability;
import org.symmem.Capability;
import org.symmem.ProviderReport;
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
 * @param version      what the backend found to work with
 * @param capabilities what all ranks can do
 */
record RankReport(long pid, String host, String device, String version, Map<Capability, Support> capabilities) {
    static RankReport of(SymmetricMemory memory) {
        Map<Capability, Support> capabilities = new EnumMap<>(Capability.class);
        for (Capability capability : Capability.values()) {
            capabilities.put(capability, memory.capability(capability));
        }
        return new RankReport(ProcessHandle.current().pid(), HostIdentity.local().name(), memory.device(), versionOf(memory.backend()),
                capabilities);
    }

    private static String versionOf(String backend) {
        return SymmetricMemory.providers()
                .stream()
                .filter(provider -> provider.name().equals(backend))
                .map(ProviderReport::availability)
                .map(answer -> answer instanceof Availability.Available found ? found.version() + ", " + found.detail() : "unavailable")
                .findFirst()
                .orElse("unknown");
    }

    byte[] toBytes() {
        return Wire.write(out -> {
            out.writeLong(pid);
            out.writeUTF(host);
            out.writeUTF(device);
            out.writeUTF(version);
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
            String version = in.readUTF();
            Map<Capability, Support> capabilities = new EnumMap<>(Capability.class);
            for (Capability capability : Capability.values()) {
                boolean supported = in.readBoolean();
                String explanation = in.readUTF();
                capabilities.put(capability, supported ? new Support.Yes(explanation) : new Support.No(explanation));
            }
            return new RankReport(pid, host, device, version, capabilities);
        });
    }
}
