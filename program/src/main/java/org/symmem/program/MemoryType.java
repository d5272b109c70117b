package org.symmem.program;

import java.util.Locale;

/** Where a tensor of a program lies. */
public enum MemoryType {
    /** Ordinary memory of the rank's device, which no other rank reaches; may have gaps. */
    GLOBAL,
    /** A buffer on every rank that every rank reaches; without gaps. */
    SYMMETRIC;

    /** {@return the name in lower case, as it stands in a program} */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
