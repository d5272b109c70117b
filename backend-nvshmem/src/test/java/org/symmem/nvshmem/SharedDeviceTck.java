package org.symmem.nvshmem;

import java.util.Map;
import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** The kit over the emulated library: two ranks on one device, where the real one ends the process in much that it offers. */
class SharedDeviceTck extends BackendTck {
    @Override
    protected TckSettings settings() {
        return EmulatedNvshmem.settings(2, 1, Map.of());
    }
}
