#include "call.h"

static const struct {
    int code;
    const char *name;
    const char *text;
} ERRORS[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the call requires a newer driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no device"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "invalid image"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid context"},
    {205, "CUDA_ERROR_MAP_FAILED", "mapping failed"},
    {206, "CUDA_ERROR_UNMAP_FAILED", "unmapping failed"},
    {208, "CUDA_ERROR_ALREADY_MAPPED", "already mapped"},
    {211, "CUDA_ERROR_NOT_MAPPED", "not mapped"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable memory error"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "no access between the devices"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "operating system call failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "illegal state"},
    {500, "CUDA_ERROR_NOT_FOUND", "not found"},
    {600, "CUDA_ERROR_NOT_READY", "not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal address"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "timed out"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "access between the devices is enabled already"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "access between the devices is not enabled"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the primary context is active"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context is destroyed"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "host memory is registered already"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "host memory is not registered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "failed on the device"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "driver and library do not match"},
    {909, "CUDA_ERROR_TIMEOUT", "timeout"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static enum result find(int code, const char **name, const char **text) {
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) {
        if (ERRORS[i].code == code) {
            *name = ERRORS[i].name;
            *text = ERRORS[i].text;
            return OK;
        }
    }
    *name = *text = NULL;
    return INVALID_VALUE;
}

EXPORT int cuGetErrorName(int code, const char **name) {
    CALL(NEEDS_NOTHING, "code=%d", code);
    const char *text;
    REPLY(name == NULL ? INVALID_VALUE : find(code, name, &text));
}

EXPORT int cuGetErrorString(int code, const char **text) {
    CALL(NEEDS_NOTHING, "code=%d", code);
    const char *name;
    REPLY(text == NULL ? INVALID_VALUE : find(code, &name, text));
}
