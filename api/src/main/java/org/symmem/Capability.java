package org.symmem;

/**
 * What a backend may or may not be able to do. {@link SymmetricMemory#capability} answers for the whole group, with a reason:
 * a capability is there only where every rank has it.
 */
public enum Capability {
    /** The CPU of this process can load and store all ranks' buffers: {@link TensorView#segment()}. */
    HOST_ACCESS,
    /** Every rank's buffer has a plain address in every rank's address space (on the device, for a device backend). */
    PEER_ADDRESS,
    /** All ranks' buffers can be seen side by side: {@link SymmetricTensor#contiguousView()}. */
    CONTIGUOUS_VIEW,
    /** One store reaches all ranks: {@link SymmetricTensor#multicast()}. */
    MULTICAST,
    /** Ordinary memory of the rank's device, beside the symmetric: {@link SymmetricMemory#allocateGlobal}. */
    GLOBAL_MEMORY,
    /** A buffer that the user allocated beforehand can be used: {@link SymmetricMemory#wrap}. */
    WRAP,
    /** A native stream that the user has can be used: {@link SymmetricMemory#wrapStream}. */
    EXTERNAL_STREAM,
    /** Allocating is local. Where this is lacking, {@link SymmetricMemory#allocate} is collective. */
    LOCAL_ALLOCATION,
    /** Closing a tensor is local. Where this is lacking, {@link SymmetricTensor#close} is collective. */
    LOCAL_CLOSE,
    /** Signals and barriers that block the calling thread. */
    HOST_SIGNALS,
    /** Signals and barriers in the order of a stream. */
    STREAM_SIGNALS,
    /** A group may hold some of the ranks only. */
    SUBGROUPS,
    /** Ranks may be threads of one process. */
    THREAD_RANKS,
    /** Several ranks may use one device. */
    SHARED_DEVICE,
    /** Ranks may be on different hosts. */
    MULTIPLE_HOSTS
}
