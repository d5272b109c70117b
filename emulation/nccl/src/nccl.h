/* The part of NCCL's interface that is emulated: own prototypes, every handle a pointer, the numbers of the public documentation. */
#ifndef NCCL_H
#define NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
/* What a line lacks is there, but not to be found from outside. */
#if NCCL_VERSION >= 22703
#define SINCE_2_27_3 EXPORT
#else
#define SINCE_2_27_3
#endif
#if NCCL_VERSION >= 22807
#define SINCE_2_28_7 EXPORT
#else
#define SINCE_2_28_7
#endif

enum nccl_result {
    NCCL_OK = 0,
    NCCL_CUDA_ERROR = 1,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INTERNAL_ERROR = 3,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6,
};

enum { WINDOW_SYMMETRIC = 1, WINDOW_ALIGNMENT = 4096 };

struct unique_id {
    char internal[128];
};

struct comm;
struct window;

EXPORT int ncclGetVersion(int *version);
EXPORT const char *ncclGetErrorString(int result);
EXPORT const char *ncclGetLastError(struct comm *comm);
EXPORT int ncclGetUniqueId(struct unique_id *id);
EXPORT int ncclCommInitRank(struct comm **comm, int ranks, struct unique_id id, int rank);
EXPORT int ncclCommDestroy(struct comm *comm);
EXPORT int ncclCommAbort(struct comm *comm);
SINCE_2_28_7 int ncclCommRevoke(struct comm *comm, int flags);
EXPORT int ncclCommCount(struct comm *comm, int *count);
EXPORT int ncclCommUserRank(struct comm *comm, int *rank);
EXPORT int ncclCommGetAsyncError(struct comm *comm, int *error);
EXPORT int ncclMemAlloc(void **address, size_t size);
EXPORT int ncclMemFree(void *address);
SINCE_2_27_3 int ncclCommWindowRegister(struct comm *comm, void *address, size_t size, struct window **window, int flags);
SINCE_2_27_3 int ncclCommWindowDeregister(struct comm *comm, struct window *window);
EXPORT int ncclBroadcast(const void *source, void *target, size_t count, int type, int root, struct comm *comm, uint64_t stream);
EXPORT int ncclAllGather(const void *source, void *target, size_t count, int type, struct comm *comm, uint64_t stream);
#if NCCL_VERSION >= 22902
EXPORT int ncclWinGetUserPtr(struct comm *comm, struct window *window, void **address);
EXPORT int ncclGetPeerDevicePointer(struct window *window, size_t offset, int peer, void **address);
EXPORT int ncclGetLsaDevicePointer(struct window *window, size_t offset, int peer, void **address);
EXPORT int ncclGetLsaMultimemDevicePointer(struct window *window, size_t offset, void **address);
#endif
/* Replaces all failures on demand, as emu_fail of the emulated driver does. */
EXPORT int emu_nccl_fail(const char *rules);
/* What is alive in this process: communicators, windows, and memory of ncclMemAlloc. */
EXPORT int emu_nccl_live(int *comms, int *windows, int *memories);

#endif
