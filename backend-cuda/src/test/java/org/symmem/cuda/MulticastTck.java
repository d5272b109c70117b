package org.symmem.cuda;

import java.util.Map;
import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** The kit over the emulated driver: four ranks, a device each, with multicast. */
class MulticastTck extends BackendTck {
    @Override
    protected TckSettings settings() {
        return EmulatedDriver.settings(4, 4, Map.of("MULTICAST", "1"));
    }
}
