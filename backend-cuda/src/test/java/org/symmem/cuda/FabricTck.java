package org.symmem.cuda;

import java.util.List;
import java.util.Map;
import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** The kit over the emulated driver: two ranks that hand over memory by fabric handles, as ranks on different hosts would. */
class FabricTck extends BackendTck {
    @Override
    protected TckSettings settings() {
        return EmulatedDriver.settings(2, 2, Map.of("FABRIC", "1")).withJvmFlags(List.of("-Dsymmem.cuda.handles=fabric"));
    }
}
