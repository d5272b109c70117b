#include "nccl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../cuda/test/driver.h"
#include "collectives.h"
#include "failure.h"
#include "meeting.h"

/* What NCCL takes of the address space for a rank, unless NCCL_WIN_STRIDE says otherwise; hardware takes the device's memory. */
static const size_t DEFAULT_STRIDE = (size_t)64 << 30;

struct comm {
    struct meeting *meeting;
    struct collectives *collectives;
    int ranks;
    int rank;
    int device;
    bool symmetric;
    size_t stride;
    uint64_t flat;
    /* How many ranks are a team that reaches each other by loads and stores. */
    int team;
    atomic_long inside;
    atomic_bool revoked;
};

struct window {
    struct comm *comm;
    /* What the caller has: from 2.28 on an address on the device, as the real one's, if the window is symmetric. */
    uint64_t handle;
    /* A registration for this rank only, which lines before 2.29 give where there are no symmetric windows. */
    bool local;
    void *address;
    size_t size;
    /* What is mapped for a rank: the whole memory around the buffer. */
    size_t mapped;
    size_t inner;
    size_t place;
    struct window *next;
};

struct memory {
    uint64_t address;
    size_t size;
    bool plain;
    struct memory *next;
};

/* Also the one that the shared parser of failures takes. */
pthread_mutex_t nccl_emulation_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *memories;
static struct window *windows;
static int comm_count, window_count, memory_count;
/* As the real one's, which is of no communicator. */
static char last_error[160];

static bool switched(const char *name, bool otherwise) {
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? otherwise : strtol(value, NULL, 10) != 0;
}

static size_t size_setting(const char *name, size_t otherwise) {
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? otherwise : strtoull(value, NULL, 0);
}

static int failing(const char *call) {
    pthread_mutex_lock(&nccl_emulation_lock);
    int code = failure_of(call);
    pthread_mutex_unlock(&nccl_emulation_lock);
    return code;
}

/* Two threads in one communicator corrupt it on hardware, sometimes; here they end the process, always. */
static void enter(struct comm *comm, const char *call) {
    long none = 0, own = (long)pthread_self();
    if (!atomic_compare_exchange_strong(&comm->inside, &none, own)) {
        fprintf(stderr, "emulated NCCL: two threads in one communicator, the second in %s\n", call);
        abort();
    }
}

static int leave(struct comm *comm, int result) {
    atomic_store(&comm->inside, 0);
    return result;
}

static int refuse(int result, const char *text) {
    snprintf(last_error, sizeof last_error, "%s", text);
    return result;
}

EXPORT int ncclGetVersion(int *version) {
    *version = NCCL_VERSION;
    return NCCL_OK;
}

EXPORT const char *ncclGetErrorString(int result) {
    static const char *const TEXTS[] = {"no error", "unhandled cuda error", "unhandled system error", "internal error",
        "invalid argument", "invalid usage", "remote process exited or there was a network error"};
    return result >= 0 && result < (int)(sizeof TEXTS / sizeof TEXTS[0]) ? TEXTS[result] : "unknown result code";
}

EXPORT const char *ncclGetLastError(struct comm *comm) {
    (void)comm;
    return last_error;
}

EXPORT int ncclGetUniqueId(struct unique_id *id) {
    int failure = failing("ncclGetUniqueId");
    return failure != 0 ? failure : (int)meeting_name(id);
}

struct introduction {
    uint8_t uuid[16];
    int version;
    int ranks;
    bool cumem;
};

static bool has_cumem(int device) {
    int supported = 0;
    return switched("NCCL_CUMEM_ENABLE", true) && cuDeviceGetAttribute(&supported, 102, device) == 0 && supported != 0;
}

static bool all_peers_reach_each_other(void) {
    return switched("SYMMEM_EMULATION_PEER_ACCESS", true) && !switched("NCCL_P2P_DISABLE", false);
}

static int team_of(int ranks) {
    int team = (int)size_setting("NCCL_LSA_TEAM_SIZE", (size_t)ranks), rest = ranks;
    while (rest != 0) {
        int next = team % rest;
        team = rest;
        rest = next;
    }
    return team;
}

static int introduce(struct comm *comm) {
    struct introduction own = {.version = NCCL_VERSION, .ranks = comm->ranks, .cumem = has_cumem(comm->device)}, all[MAX_RANKS];
    if (cuDeviceGetUuid_v2(own.uuid, comm->device) != 0) {
        return NCCL_CUDA_ERROR;
    }
    int result = meeting_gather(comm->meeting, &own, sizeof own, all);
    if (result != NCCL_OK) {
        return result;
    }
    bool shared_device_allowed = NCCL_VERSION >= 23003 && switched("NCCL_MULTI_RANK_GPU_ENABLE", false);
    comm->team = team_of(comm->ranks);
    comm->symmetric = switched("NCCL_WIN_ENABLE", true)
            && (NCCL_VERSION < 22902 || comm->team == comm->ranks || switched("SYMMEM_EMULATION_NCCL_GIN", false));
    for (int rank = 0; rank < comm->ranks; rank++) {
        if (all[rank].version != own.version || all[rank].ranks != own.ranks) {
            return NCCL_INVALID_USAGE;
        }
        comm->symmetric = comm->symmetric && all[rank].cumem;
        for (int other = 0; other < rank; other++) {
            bool same = memcmp(all[rank].uuid, all[other].uuid, sizeof own.uuid) == 0;
            if (same && !shared_device_allowed) {
                snprintf(last_error, sizeof last_error, "Duplicate GPU detected : rank %d and rank %d", other, rank);
                return NCCL_INVALID_USAGE;
            }
            comm->symmetric = comm->symmetric && (same || all_peers_reach_each_other());
        }
    }
    return NCCL_OK;
}

/* A process that uses a real device has hundreds of MiB resident that are not the program's; here as many MiB as are asked for. */
static void take_resident_memory(void) {
    static char *taken;
    size_t bytes = size_setting("SYMMEM_EMULATION_NCCL_RESIDENT_MIB", 0) << 20;
    if (taken == NULL && bytes != 0) {
        taken = malloc(bytes);
        memset(taken, 1, bytes);
    }
}

EXPORT int ncclCommInitRank(struct comm **out, int ranks, struct unique_id id, int rank) {
    int failure = failing("ncclCommInitRank");
    if (failure != 0) {
        return failure;
    }
    take_resident_memory();
    struct comm *comm = calloc(1, sizeof *comm);
    comm->ranks = ranks;
    comm->rank = rank;
    comm->stride = size_setting("NCCL_WIN_STRIDE", DEFAULT_STRIDE);
    int result = cuCtxGetDevice(&comm->device) == 0 ? NCCL_OK : NCCL_CUDA_ERROR;
    result = result == NCCL_OK ? (int)meeting_join(&comm->meeting, &id, ranks, rank) : result;
    result = result == NCCL_OK ? introduce(comm) : result;
    if (result == NCCL_OK && comm->symmetric && cuMemAddressReserve(&comm->flat, comm->stride * (size_t)ranks, 0, 0, 0) != 0) {
        result = NCCL_CUDA_ERROR;
    }
    if (result != NCCL_OK) {
        if (comm->meeting != NULL) {
            meeting_leave(comm->meeting);
        }
        free(comm);
        return result;
    }
    comm->collectives = collectives_over(comm->meeting);
    pthread_mutex_lock(&nccl_emulation_lock);
    comm_count++;
    pthread_mutex_unlock(&nccl_emulation_lock);
    *out = comm;
    return NCCL_OK;
}

static void unmap_window(struct window *window) {
    for (int rank = 0; rank < window->comm->ranks; rank++) {
        cuMemUnmap(window->comm->flat + (size_t)rank * window->comm->stride + window->place, window->mapped);
    }
}

/* Where the link to the next window of a communicator, or of any, is; its end if there is none. The lock is held. */
static struct window **window_place(const struct comm *comm, uint64_t handle) {
    struct window **place = &windows;
    while (*place != NULL && ((comm != NULL && (*place)->comm != comm) || (handle != 0 && (*place)->handle != handle))) {
        place = &(*place)->next;
    }
    return place;
}

static void drop(struct window **place) {
    struct window *window = *place;
    *place = window->next;
    if (!window->local) {
        unmap_window(window);
        if (NCCL_VERSION >= 22800) {
            cuMemFree_v2(window->handle);
        }
    }
    free(window);
    window_count--;
}

static void forget(struct comm *comm) {
    for (struct window **place = window_place(comm, 0); *place != NULL; place = window_place(comm, 0)) {
        drop(place);
    }
    if (comm->flat != 0) {
        cuMemAddressFree(comm->flat, comm->stride * (size_t)comm->ranks);
    }
    if (collectives_end(comm->collectives)) {
        meeting_leave(comm->meeting);
    }
    comm_count--;
    free(comm);
}

EXPORT int ncclCommDestroy(struct comm *comm) {
    enter(comm, "ncclCommDestroy");
    pthread_mutex_lock(&nccl_emulation_lock);
    if (*window_place(comm, 0) != NULL) {
        fprintf(stderr, "emulated NCCL: a communicator is destroyed before its windows are deregistered\n");
        abort();
    }
    forget(comm);
    pthread_mutex_unlock(&nccl_emulation_lock);
    return NCCL_OK;
}

/* The one call that may come from another thread than the one inside. */
EXPORT int ncclCommAbort(struct comm *comm) {
    meeting_abort(comm->meeting);
    for (long none = 0; !atomic_compare_exchange_strong(&comm->inside, &none, 1); none = 0) {
        usleep(500);
    }
    pthread_mutex_lock(&nccl_emulation_lock);
    forget(comm);
    pthread_mutex_unlock(&nccl_emulation_lock);
    return NCCL_OK;
}

SINCE_2_28_7 int ncclCommRevoke(struct comm *comm, int flags) {
    if (flags != 0 || atomic_load(&comm->revoked)) {
        return refuse(NCCL_INVALID_ARGUMENT, "flags are not 0, or the communicator is revoked already");
    }
    int failure = failing("ncclCommRevoke");
    if (failure != 0) {
        return failure;
    }
    atomic_store(&comm->revoked, true);
    meeting_abort(comm->meeting);
    while (atomic_load(&comm->inside) != 0) {
        usleep(500);
    }
    return NCCL_OK;
}

/* Whether the communicator still takes calls that need the other ranks. */
static int still_open(const struct comm *comm) {
    return atomic_load(&comm->revoked) ? refuse(NCCL_INVALID_USAGE, "the communicator is revoked") : NCCL_OK;
}

EXPORT int ncclCommCount(struct comm *comm, int *count) {
    *count = comm->ranks;
    return NCCL_OK;
}

EXPORT int ncclCommUserRank(struct comm *comm, int *rank) {
    *rank = comm->rank;
    return NCCL_OK;
}

EXPORT int ncclCommGetAsyncError(struct comm *comm, int *error) {
    (void)comm;
    *error = NCCL_OK;
    return NCCL_OK;
}

static int allocate_mappable(struct memory *memory, size_t size, int device) {
    struct allocation_properties properties = {
        .type = ALLOCATION_PINNED,
        .handle_types = HANDLE_POSIX_DESCRIPTOR,
        .location_type = LOCATION_DEVICE,
        .location_id = device,
    };
    size_t granularity;
    uint64_t handle;
    struct access_description access = {{LOCATION_DEVICE, device}, ACCESS_READ_WRITE};
    if (cuMemGetAllocationGranularity(&granularity, &properties, 1) != 0) {
        return NCCL_CUDA_ERROR;
    }
    memory->size = (size + granularity - 1) / granularity * granularity;
    if (cuMemCreate(&handle, memory->size, &properties, 0) != 0) {
        return NCCL_CUDA_ERROR;
    }
    int result = NCCL_CUDA_ERROR;
    if (cuMemAddressReserve(&memory->address, memory->size, 0, 0, 0) == 0) {
        if (cuMemMap(memory->address, memory->size, 0, handle, 0) == 0) {
            result = cuMemSetAccess(memory->address, memory->size, &access, 1) == 0 ? NCCL_OK : NCCL_CUDA_ERROR;
            if (result != NCCL_OK) {
                cuMemUnmap(memory->address, memory->size);
            }
        }
        if (result != NCCL_OK) {
            cuMemAddressFree(memory->address, memory->size);
        }
    }
    /* The mapping keeps it. */
    cuMemRelease(handle);
    return result;
}

EXPORT int ncclMemAlloc(void **address, size_t size) {
    int failure = failing("ncclMemAlloc"), device;
    if (failure != 0) {
        return failure;
    }
    if (address == NULL || size == 0) {
        return NCCL_INVALID_ARGUMENT;
    }
    if (cuCtxGetDevice(&device) != 0) {
        return NCCL_CUDA_ERROR;
    }
    struct memory *memory = calloc(1, sizeof *memory);
    memory->plain = !has_cumem(device);
    memory->size = size;
    int result = memory->plain ? (cuMemAlloc_v2(&memory->address, size) == 0 ? NCCL_OK : NCCL_CUDA_ERROR)
                               : allocate_mappable(memory, size, device);
    if (result != NCCL_OK) {
        free(memory);
        return result;
    }
    pthread_mutex_lock(&nccl_emulation_lock);
    memory->next = memories;
    memories = memory;
    memory_count++;
    pthread_mutex_unlock(&nccl_emulation_lock);
    *address = (void *)(uintptr_t)memory->address;
    return NCCL_OK;
}

EXPORT int ncclMemFree(void *address) {
    pthread_mutex_lock(&nccl_emulation_lock);
    struct memory **place = &memories;
    while (*place != NULL && (*place)->address != (uint64_t)(uintptr_t)address) {
        place = &(*place)->next;
    }
    struct memory *memory = *place;
    if (memory != NULL) {
        *place = memory->next;
        memory_count--;
    }
    pthread_mutex_unlock(&nccl_emulation_lock);
    if (memory == NULL) {
        return NCCL_INVALID_ARGUMENT;
    }
    int result = memory->plain ? cuMemFree_v2(memory->address) : cuMemUnmap(memory->address, memory->size);
    if (result == 0 && !memory->plain) {
        result = cuMemAddressFree(memory->address, memory->size);
    }
    free(memory);
    return result == 0 ? NCCL_OK : NCCL_CUDA_ERROR;
}

/* Maps every rank's memory at the window's place of that rank's part of the flat space. */
static int map_window(struct window *window, uint64_t own, const int *descriptors) {
    struct comm *comm = window->comm;
    struct access_description access = {{LOCATION_DEVICE, comm->device}, ACCESS_READ_WRITE};
    for (int rank = 0; rank < comm->ranks; rank++) {
        uint64_t handle = own, at = comm->flat + (size_t)rank * comm->stride + window->place;
        if (rank != comm->rank && cuMemImportFromShareableHandle(&handle, (uint64_t)descriptors[rank], HANDLE_POSIX_DESCRIPTOR) != 0) {
            return NCCL_CUDA_ERROR;
        }
        int result = cuMemMap(at, window->mapped, 0, handle, 0);
        if (rank != comm->rank) {
            cuMemRelease(handle);
        }
        if (result != 0 || cuMemSetAccess(at, window->mapped, &access, 1) != 0) {
            return NCCL_CUDA_ERROR;
        }
    }
    return NCCL_OK;
}

/* The first place in the symmetric space of a rank that no window has. Ranks that closed different ones find different places. */
static size_t free_place(const struct comm *comm, size_t size) {
    size_t place = 0;
    pthread_mutex_lock(&nccl_emulation_lock);
    for (const struct window *other = windows; other != NULL;) {
        bool in_the_way = other->comm == comm && !other->local && other->place < place + size && place < other->place + other->mapped;
        place = in_the_way ? other->place + other->mapped : place;
        other = in_the_way ? windows : other->next;
    }
    pthread_mutex_unlock(&nccl_emulation_lock);
    return place;
}

static int register_memory(struct window *window) {
    struct comm *comm = window->comm;
    uint64_t base, own;
    int theirs[MAX_RANKS], descriptor = -1;
    if (cuMemGetAddressRange_v2(&base, &window->mapped, (uint64_t)(uintptr_t)window->address) != 0
            || cuMemRetainAllocationHandle(&own, base) != 0) {
        return refuse(NCCL_INVALID_ARGUMENT, "the buffer is not memory of cuMemCreate");
    }
    window->inner = (uint64_t)(uintptr_t)window->address - base;
    int result = window->inner % WINDOW_ALIGNMENT == 0 ? NCCL_OK : refuse(NCCL_INVALID_ARGUMENT, "the buffer is not aligned");
    window->place = free_place(comm, window->mapped);
    if (result == NCCL_OK && window->place + window->mapped > comm->stride) {
        result = refuse(NCCL_SYSTEM_ERROR, "no symmetric address space is left");
    }
    if (result == NCCL_OK && cuMemExportToShareableHandle(&descriptor, own, HANDLE_POSIX_DESCRIPTOR, 0) != 0) {
        result = NCCL_CUDA_ERROR;
    }
    if (result == NCCL_OK) {
        result = meeting_descriptors(comm->meeting, descriptor, theirs);
        close(descriptor);
        result = result == NCCL_OK ? map_window(window, own, theirs) : result;
        for (int rank = 0; rank < comm->ranks; rank++) {
            if (theirs[rank] >= 0) {
                close(theirs[rank]);
            }
        }
    }
    cuMemRelease(own);
    return result;
}

/* Null windows on demand, on all ranks or on one. */
static bool is_to_be_null(const struct comm *comm) {
    const char *value = getenv("SYMMEM_EMULATION_NCCL_NULL_WINDOW");
    return value != NULL && value[0] != '\0' && (strcmp(value, "*") == 0 || strtol(value, NULL, 10) == comm->rank);
}

static void remember(struct window *window) {
    pthread_mutex_lock(&nccl_emulation_lock);
    window->next = windows;
    windows = window;
    window_count++;
    pthread_mutex_unlock(&nccl_emulation_lock);
}

/*
 * Success, and no symmetric window: the trap that is to be kept. From 2.29 on there is none at all; before, a registration for this
 * rank only looks like one; with that switched off, 2.27 gives none, and 2.28 does not even write it.
 */
static int without_symmetry(struct comm *comm, void *address, struct window **out) {
    bool local = NCCL_VERSION < 22900 && switched("NCCL_LOCAL_REGISTER", true)
            && (NCCL_VERSION >= 22800 || has_cumem(comm->device));
    if (local) {
        struct window *window = calloc(1, sizeof *window);
        *window = (struct window){.comm = comm, .handle = (uintptr_t)window, .local = true, .address = address};
        remember(window);
        *out = window;
    } else if (NCCL_VERSION < 22800 || NCCL_VERSION >= 22900) {
        *out = NULL;
    }
    return NCCL_OK;
}

static int register_symmetric(struct comm *comm, void *address, size_t size, struct window **out) {
    struct window *window = calloc(1, sizeof *window);
    *window = (struct window){.comm = comm, .handle = (uintptr_t)window, .address = address, .size = size};
    int result = register_memory(window);
    if (result == NCCL_OK && NCCL_VERSION >= 22800 && cuMemAlloc_v2(&window->handle, sizeof *window) != 0) {
        unmap_window(window);
        result = NCCL_CUDA_ERROR;
    }
    if (result != NCCL_OK) {
        free(window);
        return result;
    }
    remember(window);
    *out = (struct window *)(uintptr_t)window->handle;
    return NCCL_OK;
}

SINCE_2_27_3 int ncclCommWindowRegister(struct comm *comm, void *address, size_t size, struct window **out, int flags) {
    enter(comm, "ncclCommWindowRegister");
    int failure = failing("ncclCommWindowRegister");
    failure = failure == 0 ? still_open(comm) : failure;
    if (failure != 0) {
        return leave(comm, failure);
    }
    if (address == NULL || size == 0 || out == NULL || (flags & ~(NCCL_VERSION >= 22907 ? 3 : 1)) != 0) {
        return leave(comm, NCCL_INVALID_ARGUMENT);
    }
    if (!comm->symmetric || (flags & WINDOW_SYMMETRIC) == 0) {
        return leave(comm, without_symmetry(comm, address, out));
    }
    int result = register_symmetric(comm, address, size, out);
    if (result == NCCL_OK && is_to_be_null(comm)) {
        pthread_mutex_lock(&nccl_emulation_lock);
        drop(window_place(comm, (uintptr_t)*out));
        pthread_mutex_unlock(&nccl_emulation_lock);
        *out = NULL;
    }
    return leave(comm, result);
}

SINCE_2_27_3 int ncclCommWindowDeregister(struct comm *comm, struct window *handle) {
    enter(comm, "ncclCommWindowDeregister");
    int failure = failing("ncclCommWindowDeregister");
    if (failure != 0) {
        return leave(comm, failure);
    }
    pthread_mutex_lock(&nccl_emulation_lock);
    struct window **place = window_place(comm, (uintptr_t)handle);
    int result = *place == NULL || handle == NULL ? NCCL_INVALID_ARGUMENT : NCCL_OK;
    if (result == NCCL_OK) {
        drop(place);
    }
    pthread_mutex_unlock(&nccl_emulation_lock);
    return leave(comm, result);
}

/* Of the types only bytes, 0 and 1, are emulated. */
EXPORT int ncclBroadcast(const void *source, void *target, size_t count, int type, int root, struct comm *comm, uint64_t stream) {
    enter(comm, "ncclBroadcast");
    int failure = failing("ncclBroadcast");
    failure = failure == 0 ? still_open(comm) : failure;
    if (failure != 0) {
        return leave(comm, failure);
    }
    if (target == NULL || (source == NULL && root == comm->rank) || type < 0 || type > 1 || root < 0 || root >= comm->ranks) {
        return leave(comm, NCCL_INVALID_ARGUMENT);
    }
    return leave(comm, collectives_broadcast(comm->collectives, (uint64_t)(uintptr_t)source, (uint64_t)(uintptr_t)target, count, root,
            stream));
}

EXPORT int ncclAllGather(const void *source, void *target, size_t count, int type, struct comm *comm, uint64_t stream) {
    enter(comm, "ncclAllGather");
    int failure = failing("ncclAllGather");
    failure = failure == 0 ? still_open(comm) : failure;
    if (failure != 0) {
        return leave(comm, failure);
    }
    if (target == NULL || source == NULL || type < 0 || type > 1) {
        return leave(comm, NCCL_INVALID_ARGUMENT);
    }
    return leave(comm,
            collectives_gather(comm->collectives, (uint64_t)(uintptr_t)source, (uint64_t)(uintptr_t)target, count, stream));
}

#if NCCL_VERSION >= 22902
/* A copy of the window, since it may go as soon as the lock is free; false if there is none, or it is shorter. */
static bool find_window(struct window *handle, size_t offset, struct window *found) {
    pthread_mutex_lock(&nccl_emulation_lock);
    const struct window *window = handle == NULL ? NULL : *window_place(NULL, (uintptr_t)handle);
    if (window != NULL) {
        *found = *window;
    }
    pthread_mutex_unlock(&nccl_emulation_lock);
    return window != NULL && offset < found->size;
}

EXPORT int ncclWinGetUserPtr(struct comm *comm, struct window *handle, void **address) {
    enter(comm, "ncclWinGetUserPtr");
    struct window window;
    bool known = find_window(handle, 0, &window);
    *address = known ? window.address : NULL;
    return leave(comm, known ? NCCL_OK : NCCL_INVALID_ARGUMENT);
}

EXPORT int ncclGetPeerDevicePointer(struct window *handle, size_t offset, int peer, void **address) {
    struct window window;
    if (!find_window(handle, offset, &window) || peer < 0 || peer >= window.comm->ranks) {
        return NCCL_INVALID_ARGUMENT;
    }
    int failure = failing("ncclGetPeerDevicePointer");
    if (failure != 0) {
        return failure;
    }
    const struct comm *comm = window.comm;
    *address = peer / comm->team != comm->rank / comm->team
            ? NULL
            : (void *)(uintptr_t)(comm->flat + (size_t)peer * comm->stride + window.place + window.inner + offset);
    return NCCL_OK;
}

EXPORT int ncclGetLsaDevicePointer(struct window *handle, size_t offset, int peer, void **address) {
    return ncclGetPeerDevicePointer(handle, offset, peer, address);
}

EXPORT int ncclGetLsaMultimemDevicePointer(struct window *handle, size_t offset, void **address) {
    struct window window;
    if (!find_window(handle, offset, &window)) {
        return NCCL_INVALID_ARGUMENT;
    }
    /* As where NVLS is off. */
    *address = NULL;
    return NCCL_OK;
}
#endif

EXPORT int emu_nccl_live(int *comms, int *windows, int *allocated) {
    pthread_mutex_lock(&nccl_emulation_lock);
    *comms = comm_count;
    *windows = window_count;
    *allocated = memory_count;
    pthread_mutex_unlock(&nccl_emulation_lock);
    return NCCL_OK;
}
