package org.symmem.tck.mutant;

/** The binding of a library that no machine has: linking it fails with one error the first time and another after that. */
final class MissingLibrary {
    static {
        System.loadLibrary("symmem-no-such-library");
    }

    private MissingLibrary() {}

    static native void call();
}
