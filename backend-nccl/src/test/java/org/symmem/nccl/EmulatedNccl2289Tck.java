package org.symmem.nccl;

import java.util.List;
import java.util.Map;
import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** The whole kit over an emulated NCCL without getters of peer pointers, two ranks on two emulated devices. */
class EmulatedNccl2289Tck extends BackendTck {
    @Override
    protected TckSettings settings() {
        return TckSettings.forBackend("nccl")
                .withJvmFlags(
                        List.of("-Dsymmem.cuda.path=" + EmulatedNccl.driver(), "-Dsymmem.nccl.path=" + EmulatedNccl.version("2.28.9")))
                .withEnvironment(Map.of("SYMMEM_EMULATION_DEVICES", "2"));
    }
}
