package org.symmem.nvshmem;

import org.jspecify.annotations.Nullable;

/**
 * The functions of the shim, one for each that is called of NVSHMEM. To be called after {@link NvshmemShim} has loaded it, and, but
 * for those that look the library over, after {@link NvshmemLibrary} has found nothing missing: a function that is missing is a
 * fault of the process here. Those that are marked collective wait for the other PEs without a deadline.
 */
final class NvshmemNative {
    /** The size of a unique id. */
    static final int UNIQUE_ID_BYTES = 128;

    /** What {@link #status()} answers: no PEs share a device. */
    static final int INITIALIZED = 2;
    /** PEs share a device, without a server for it: much of the library ends the process then. */
    static final int LIMITED_SHARING = 3;

    private NvshmemNative() {}

    /** {@return a constant} Does nothing else, so that the way there and back can be measured. */
    static native int crossing();

    /** {@return why a file cannot be loaded, or null if it is} */
    static native @Nullable String open(String file);

    /** {@return the file that was loaded} */
    static native @Nullable String file();

    /** {@return names of needed functions that the loaded library lacks, with blanks between} */
    static native String missing();

    static native boolean hasMulticast();

    static native boolean hasRegistration();

    /** {@return for instance 30405 for 3.4.5} */
    static native int version();

    /** Sets a variable of the process's environment, unless it is set. {@return 0, or -1} */
    static native int setVariable(String name, String value);

    /** Says where this rank is, for the message that is printed should the library end the process. */
    static native void describe(String where);

    /** Makes a unique id. {@return the library's status, 0 if it went well} */
    static native int uniqueId(byte[] id);

    /** Starts the library. Collective. {@return the library's status, 0 if it went well} */
    static native int start(int rank, int pes, byte[] id);

    /** Ends the library. Collective. */
    static native void finish();

    static native int status();

    static native int pe();

    static native int pes();

    /** Allocates from the heap. Collective. {@return this PE's address, or 0} */
    static native long allocate(long alignment, long sizeBytes);

    /** Gives memory back to the heap. Collective. */
    static native void free(long address);

    /** {@return where the same place of another PE's heap is in this process, or 0 if no load reaches it} */
    static native long address(long own, int pe);

    /** {@return the multicast address of a place of the heap, or 0 if there is none} */
    static native long multicast(long own);

    /** Makes a buffer symmetric. Collective. {@return its symmetric address, or 0} */
    static native long register(long buffer, long sizeBytes);

    /** Undoes {@link #register}. Collective. {@return the library's status, 0 if it went well} */
    static native int unregister(long symmetric, long sizeBytes);

    /** Copies to a PE, in the order of a stream. */
    static native void put(long symmetricTarget, long source, long sizeBytes, int pe, long stream);

    /** Copies from a PE, in the order of a stream. */
    static native void get(long target, long symmetricSource, long sizeBytes, int pe, long stream);

    /** Makes a stream wait until its puts are at their targets. */
    static native void quiet(long stream);
}
