package org.symmem.nccl;

/**
 * A version as NCCL numbers it.
 *
 * @param code for instance 22809 for 2.28.9
 */
record NcclVersion(int code) {
    /** Windows. */
    static final NcclVersion OLDEST = new NcclVersion(22703);
    /** A window is an address on the device, if it is symmetric. */
    static final NcclVersion WINDOWS_ON_DEVICE = new NcclVersion(22800);
    /** Ending what is under way in a communicator without ending it. */
    static final NcclVersion REVOKE = new NcclVersion(22807);
    /** Where there are no symmetric windows there are none, not even for one rank. */
    static final NcclVersion NULL_WINDOWS = new NcclVersion(22902);
    /** The host getters of peer pointers, and puts with signals. */
    static final NcclVersion PEER_POINTERS = new NcclVersion(22902);
    /** Several ranks on one device, where {@code NCCL_MULTI_RANK_GPU_ENABLE} is 1. */
    static final NcclVersion SHARED_DEVICE = new NcclVersion(23003);

    boolean isAtLeast(NcclVersion other) {
        return code >= other.code;
    }

    @Override
    public String toString() {
        return code / 10_000 + "." + code % 10_000 / 100 + "." + code % 100;
    }
}
