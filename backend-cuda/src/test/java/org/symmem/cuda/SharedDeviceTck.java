package org.symmem.cuda;

import java.util.Map;
import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** The kit over the emulated driver: two ranks on one device, without multicast. */
class SharedDeviceTck extends BackendTck {
    @Override
    protected TckSettings settings() {
        return EmulatedDriver.settings(2, 1, Map.of());
    }
}
