package org.symmem.program;

import java.util.Locale;

/** What communication becomes when a program is run. */
public enum Lowering {
    /** Copies to and signals among symmetric buffers. */
    SYMMETRIC,
    /** The backend's own collectives, for instance {@code ncclBroadcast}. */
    NATIVE;

    /** {@return the name in lower case} */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
