package org.symmem.nvshmem;

import java.util.Map;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;

/** Errors of this backend. */
final class NvshmemErrors {
    /** NVSHMEM runs once a process, with one set of ranks; this process has had its turn, or has another set. */
    static final ErrorCode WORLD = new ErrorCode("SM-E-NVSHMEM-1", "NVSHMEM runs once a process");

    private static final Map<Integer, String> STATUS = Map.of(1, "NVSHMEMX_ERROR_INVALID_VALUE", 2, "NVSHMEMX_ERROR_OUT_OF_MEMORY", 3,
            "NVSHMEMX_ERROR_NOT_SUPPORTED", 4, "NVSHMEMX_ERROR_SYMMETRY", 5, "NVSHMEMX_ERROR_GPU_NOT_SELECTED", 6,
            "NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED", 7, "NVSHMEMX_ERROR_INTERNAL");

    private NvshmemErrors() {}

    /** @throws NativeCallException if the status is an error */
    static void check(int status, String call, String context) {
        if (status != 0) {
            throw new NativeCallException(ErrorCode.NATIVE_CALL, call, STATUS.getOrDefault(status, "an unknown status"), status,
                    context + "; NVSHMEM's own output, with NVSHMEM_DEBUG=INFO, says more");
        }
    }
}
