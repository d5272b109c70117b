package org.symmem.nccl;

import org.symmem.ErrorCode;

/** The kinds of error that only this backend has. */
final class NcclErrors {
    /** NCCL gave no symmetric window. */
    static final ErrorCode NO_WINDOW = new ErrorCode("SM-E-NCCL-1", "NCCL gave no symmetric window");
    /** Several ranks use one device, which the NCCL in use refuses. */
    static final ErrorCode SHARED_DEVICE = new ErrorCode("SM-E-NCCL-2", "ranks share a device");
    /** A call of NCCL did not come back, or the communicator was ended. */
    static final ErrorCode COMMUNICATOR_BROKEN = new ErrorCode("SM-E-NCCL-3", "the communicator is broken");

    private NcclErrors() {}
}
