package org.example.symmem;

import org.symmem.tck.BackendTck;
import org.symmem.tck.TckSettings;

/** Every rule of symmem's specification over this backend. */
class FileBackendTest extends BackendTck {
    @Override
    protected TckSettings settings() {
        return TckSettings.forBackend("file").withRanks(2);
    }
}
