package org.symmem.nccl;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** The kit over one emulated version of NCCL, two ranks on two emulated devices. */
abstract class NcclTck extends BackendTck {
    private final String version;

    NcclTck(String version) {
        this.version = version;
    }

    @Override
    protected TckSettings settings() {
        return TckSettings.forBackend("nccl")
                .withJvmFlags(List.of("-Dsymmem.cuda.path=" + EmulatedNccl.driver(), "-Dsymmem.nccl.path=" + EmulatedNccl.version(version)))
                .withEnvironment(Map.of("SYMMEM_EMULATION_DEVICES", "2"))
                .withOutput(Path.of("target", "tck", version));
    }
}
