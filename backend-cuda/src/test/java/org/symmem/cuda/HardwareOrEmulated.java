package org.symmem.cuda;

import java.util.Map;
import org.symmem.tck.TckSettings;

/** Tests that run over the emulated driver, and with {@code -Dsymmem.test.hardware=true} over the machine's own. */
final class HardwareOrEmulated {
    static final boolean HARDWARE = Boolean.getBoolean("symmem.test.hardware");

    private HardwareOrEmulated() {}

    /** {@return settings for ranks, with so many devices where they are emulated} */
    static TckSettings settings(int ranks, int emulatedDevices, Map<String, String> emulation) {
        return HARDWARE ? TckSettings.forBackend("cuda").withRanks(ranks) : EmulatedDriver.settings(ranks, emulatedDevices, emulation);
    }
}
