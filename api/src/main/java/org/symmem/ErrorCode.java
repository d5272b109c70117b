package org.symmem;

/**
 * Names one kind of error. {@code docs/errors.md} has an entry for each, with what to check and do.
 *
 * <p>A backend adds its own codes ({@code SM-E-CUDA-…}); those here are raised by the framework for every backend.
 *
 * @param id    what messages end with, for instance {@code SM-E-GROUP-2}; never reused
 * @param title the kind in a few words
 */
public record ErrorCode(String id, String title) {
    /** A variable, property or option is missing or has a value that is not allowed. */
    public static final ErrorCode SETTING = new ErrorCode("SM-E-SETTING-1", "a setting is wrong");
    /** The backend that was asked for is unknown. */
    public static final ErrorCode BACKEND_UNKNOWN = new ErrorCode("SM-E-BACKEND-1", "unknown backend");
    /** The backend that was asked for, or every backend, is unavailable on some rank. */
    public static final ErrorCode BACKEND_UNAVAILABLE = new ErrorCode("SM-E-BACKEND-2", "no backend available on all ranks");
    /** The backend cannot do what was asked for. */
    public static final ErrorCode UNSUPPORTED = new ErrorCode("SM-E-BACKEND-3", "unsupported capability");
    /** The backend broke the contract of {@code org.symmem.spi}. */
    public static final ErrorCode BACKEND_BROKEN = new ErrorCode("SM-E-BACKEND-4", "the backend is wrong");
    /** A rank did not come within the deadline. */
    public static final ErrorCode RANK_MISSING = new ErrorCode("SM-E-GROUP-1", "ranks did not come");
    /** A collective step failed on one rank or more; all ranks get this error. */
    public static final ErrorCode RANK_FAILED = new ErrorCode("SM-E-GROUP-2", "a collective step failed");
    /** Ranks disagree on something that must be equal on all. */
    public static final ErrorCode RANKS_DISAGREE = new ErrorCode("SM-E-GROUP-3", "ranks disagree");
    /** A rank's process has ended while others needed it. */
    public static final ErrorCode RANK_LOST = new ErrorCode("SM-E-GROUP-4", "a rank has ended");
    /** The store cannot be reached, or what answers there is not a store. */
    public static final ErrorCode STORE_UNREACHABLE = new ErrorCode("SM-E-STORE-1", "the store cannot be reached");
    /** The store answered what the protocol does not allow, or closed the connection. */
    public static final ErrorCode STORE_PROTOCOL = new ErrorCode("SM-E-STORE-2", "the store broke off");
    /** The address or port for the store cannot be listened on. */
    public static final ErrorCode STORE_LISTEN = new ErrorCode("SM-E-STORE-3", "the store cannot listen");
    /** Passing a descriptor to or from a peer failed. */
    public static final ErrorCode DESCRIPTOR_EXCHANGE = new ErrorCode("SM-E-FD-1", "descriptors were not exchanged");
    /** A system or driver call failed. */
    public static final ErrorCode NATIVE_CALL = new ErrorCode("SM-E-NATIVE-1", "a native call failed");
    /** A descriptor, memory or address-space limit was reached. */
    public static final ErrorCode RESOURCE_LIMIT = new ErrorCode("SM-E-NATIVE-2", "a resource limit was reached");
    /** A host program breaks a rule of its language. */
    public static final ErrorCode PROGRAM = new ErrorCode("SM-E-PROGRAM-1", "a program is wrong");
    /** A buffer cannot be used as symmetric memory. */
    public static final ErrorCode BUFFER_UNSUITABLE = new ErrorCode("SM-E-MEMORY-1", "the buffer cannot be symmetric");
    /** A wait for a signal or at a barrier passed its deadline. */
    public static final ErrorCode SIGNAL_TIMEOUT = new ErrorCode("SM-E-SIGNAL-1", "a signal did not come");
    /** A channel cannot be used after an earlier wait on it failed. */
    public static final ErrorCode CHANNEL_BROKEN = new ErrorCode("SM-E-SIGNAL-2", "the channel is broken");
    /** An operation of a stream failed; later operations of that stream were not run. */
    public static final ErrorCode STREAM_FAILED = new ErrorCode("SM-E-STREAM-1", "a stream failed");
}
