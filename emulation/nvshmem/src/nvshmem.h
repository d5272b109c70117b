/* The state of the emulated library, and its prototypes: own declarations of the functions that the real one exports. */
#ifndef NVSHMEM_H
#define NVSHMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../bootstrap/bootstrap.h"

#define EXPORT __attribute__((visibility("default")))

/* What functions that return a status answer. */
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_SUPPORTED = 3, INTERNAL = 7 };
/* nvshmemx_init_status. */
enum { NOT_INITIALIZED = 0, BOOTSTRAPPED = 1, INITIALIZED = 2, LIMITED_MPG = 3, FULL_MPG = 4 };
enum { INIT_WITH_UNIQUE_ID = 1 << 3, SIGNAL_SET = 9, COMPARE_GE = 5, TEAM_WORLD = 0 };

struct unique_id {
    int version;
    char internal[UNIQUE_ID_BYTES];
};
struct unique_id_arguments {
    int version;
    const struct unique_id *id;
    int rank, pes;
};
struct init_arguments {
    int version;
    struct unique_id_arguments unique_id;
    char content[96];
};
struct init_attributes {
    int version;
    void *mpi_communicator;
    struct init_arguments arguments;
};
/* Confirmed by the real library, which takes these sizes as part of the versions. */
_Static_assert(sizeof(struct unique_id) == 128 && sizeof(struct unique_id_arguments) == 24 && sizeof(struct init_arguments) == 128
                       && sizeof(struct init_attributes) == 144, "ABI");
#define VERSION_OF(type) ((1 << 16) + (int)sizeof(type))

struct chunk {
    size_t offset, size;
    uint64_t handles[BOOTSTRAP_MAX_PES];
};

struct library {
    struct bootstrap bootstrap;
    int status;
    int uses;
    bool over;
    bool unreachable;
    int device;
    uint64_t context;
    /* Every PE's heap as this process maps it, each in a part of one reservation. */
    uint64_t reservation;
    uint64_t bases[BOOTSTRAP_MAX_PES];
    /* Of addresses, of a PE; the upper half is for buffers of users. */
    size_t capacity;
    size_t granularity;
    size_t physical;
};
extern struct library library;

/* The driver's functions, from the libcuda.so.1 that the process has. */
struct driver {
    int (*cuCtxGetDevice)(int *);
    int (*cuCtxGetCurrent)(uint64_t *);
    int (*cuDeviceGetUuid)(uint8_t *, int);
    int (*cuMemAddressReserve)(uint64_t *, size_t, size_t, uint64_t, uint64_t);
    int (*cuMemAddressFree)(uint64_t, size_t);
    int (*cuMemCreate)(uint64_t *, size_t, const void *, uint64_t);
    int (*cuMemRelease)(uint64_t);
    int (*cuMemRetainAllocationHandle)(uint64_t *, uint64_t);
    int (*cuMemExportToShareableHandle)(void *, uint64_t, unsigned, uint64_t);
    int (*cuMemImportFromShareableHandle)(uint64_t *, uint64_t, unsigned);
    int (*cuMemMap)(uint64_t, size_t, size_t, uint64_t, uint64_t);
    int (*cuMemUnmap)(uint64_t, size_t);
    int (*cuMemSetAccess)(uint64_t, size_t, const void *, size_t);
    int (*cuMemsetD8_v2)(uint64_t, uint8_t, size_t);
    int (*cuMemcpyDtoDAsync_v2)(uint64_t, uint64_t, size_t, uint64_t);
    int (*cuStreamWriteValue64_v2)(uint64_t, uint64_t, uint64_t, unsigned);
    int (*cuStreamWaitValue64_v2)(uint64_t, uint64_t, uint64_t, unsigned);
    int (*cuStreamSynchronize)(uint64_t);
};
extern struct driver driver;
bool driver_found(void);

/* Settings: environment variables that begin with SYMMEM_EMULATION_NVSHMEM_. */
const char *setting(const char *name);
size_t size_from(const char *variable, size_t otherwise);

/* The real library prints, and ends the process with status 255. */
_Noreturn void end_process(const char *call, const char *message);
/* Ends the process where an operation needs an initialised library, or one without PEs that share a device. */
void require_initialized(const char *call);
void require_not_limited(const char *call);
/* What a call is to answer instead of doing its work, or 0; may end the process or never return, as the failure says. */
int failure_of(const char *call);

bool heap_open(void);
void heap_close(void);
/* Maps every PE's memory at an offset of the heaps. handle: this PE's, 0 if it has none. Collective. */
int map_everywhere(struct chunk *chunk, uint64_t handle);
void unmap_everywhere(struct chunk *chunk);
/* A PE's part of the heaps, or 0 if the address is in none of this PE's. */
uint64_t address_at(uint64_t own, int pe);

#endif
