package org.symmem.cuda;

import java.util.Map;
import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** The kit over the emulated driver: four ranks, a device each, with multicast. */
class MulticastTck extends BackendTck {
    @Override
    protected TckSettings settings() {
        return TckSettings.forBackend("cuda")
                .withRanks(4)
                .withEnvironment(Map.of("SYMMEM_EMULATION_DEVICES", "4", "SYMMEM_EMULATION_MULTICAST", "1"));
    }
}
