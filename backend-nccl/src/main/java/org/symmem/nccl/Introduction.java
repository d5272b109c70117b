package org.symmem.nccl;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.symmem.cuda.CudaDevice;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.Wire;

/**
 * What one rank says of itself before the ranks join.
 *
 * @param process      tells processes apart
 * @param host         its name
 * @param version      of its NCCL
 * @param uuid         of its device
 * @param device       its device, in words
 * @param shareSetting its {@code NCCL_MULTI_RANK_GPU_ENABLE}, or an empty text
 * @param windowsOff   what takes windows away there, or an empty text
 */
record Introduction(String process, String host, NcclVersion version, String uuid, String device, String shareSetting,
        String windowsOff) {
    private static final String PROCESS = UUID.randomUUID().toString();

    static Introduction ofThisRank(NcclLibrary library, CudaDevice device) {
        return new Introduction(PROCESS, HostIdentity.local().name(), library.version(), device.uuid(), device.toString(),
                Optional.ofNullable(System.getenv("NCCL_MULTI_RANK_GPU_ENABLE")).orElse(""),
                WindowSettings.ofThisProcess().off().orElse(""));
    }

    byte[] toBytes() {
        return Wire.write(out -> {
            for (String field : List.of(process, host, uuid, device, shareSetting, windowsOff)) {
                out.writeUTF(field);
            }
            out.writeInt(version.code());
        });
    }

    static Introduction from(byte[] bytes) {
        return Wire.read(bytes, in -> {
            String process = in.readUTF();
            String host = in.readUTF();
            String uuid = in.readUTF();
            String device = in.readUTF();
            String shareSetting = in.readUTF();
            String windowsOff = in.readUTF();
            return new Introduction(process, host, new NcclVersion(in.readInt()), uuid, device, shareSetting, windowsOff);
        });
    }
}
