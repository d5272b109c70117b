/*
 * The bootstrap by unique id. The meeting place is a memfd of rank 0's process, which the others open through /proc: no name
 * in the file system is left, whoever is killed.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bootstrap.h"

#define EXPORT __attribute__((visibility("default")))

enum { MAGIC = 0x55494431 };

struct unique_id {
    uint32_t magic;
    int32_t pid, fd;
    uint64_t token;
};
_Static_assert(sizeof(struct unique_id) <= UNIQUE_ID_BYTES, "fits");

struct place {
    uint64_t token;
    _Atomic int pes;
    _Atomic int arrived;
    _Atomic uint32_t generation;
    char slots[BOOTSTRAP_MAX_PES][BOOTSTRAP_MAX_BYTES];
};

static int place_fd = -1;

EXPORT int nvshmemi_bootstrap_plugin_pre_init(char id[UNIQUE_ID_BYTES], int version) {
    if (version != BOOTSTRAP_VERSION) {
        return 1;
    }
    struct unique_id own = {.magic = MAGIC, .pid = getpid()};
    place_fd = memfd_create("nvshmem-bootstrap", MFD_CLOEXEC);
    if (place_fd < 0 || ftruncate(place_fd, sizeof(struct place)) != 0 || getrandom(&own.token, sizeof own.token, 0) != sizeof own.token
            || pwrite(place_fd, &own.token, sizeof own.token, offsetof(struct place, token)) != sizeof own.token) {
        return 1;
    }
    own.fd = place_fd;
    memset(id, 0, UNIQUE_ID_BYTES);
    memcpy(id, &own, sizeof own);
    return 0;
}

static int barrier(struct bootstrap *bootstrap) {
    struct place *place = bootstrap->state;
    uint32_t generation = atomic_load(&place->generation);
    if (atomic_fetch_add(&place->arrived, 1) + 1 == bootstrap->pes) {
        atomic_store(&place->arrived, 0);
        atomic_fetch_add(&place->generation, 1);
        syscall(SYS_futex, &place->generation, FUTEX_WAKE, BOOTSTRAP_MAX_PES, NULL, NULL, 0);
        return 0;
    }
    while (atomic_load(&place->generation) == generation) {
        syscall(SYS_futex, &place->generation, FUTEX_WAIT, generation, NULL, NULL, 0);
    }
    return 0;
}

static int allgather(struct bootstrap *bootstrap, const void *own, void *all, size_t bytes) {
    struct place *place = bootstrap->state;
    if (bytes > BOOTSTRAP_MAX_BYTES) {
        return 1;
    }
    memcpy(place->slots[bootstrap->rank], own, bytes);
    barrier(bootstrap);
    for (int pe = 0; pe < bootstrap->pes; pe++) {
        memcpy((char *)all + bytes * (size_t)pe, place->slots[pe], bytes);
    }
    /* Nobody overwrites a slot before all have read it. */
    return barrier(bootstrap);
}

static void finalize(struct bootstrap *bootstrap) {
    munmap(bootstrap->state, sizeof(struct place));
    bootstrap->state = NULL;
}

EXPORT int nvshmemi_bootstrap_plugin_init(const struct bootstrap_arguments *arguments, struct bootstrap *bootstrap, int version) {
    struct unique_id id;
    memcpy(&id, arguments->id, sizeof id);
    if (version != BOOTSTRAP_VERSION || id.magic != MAGIC || arguments->pes < 1 || arguments->pes > BOOTSTRAP_MAX_PES
            || arguments->rank < 0 || arguments->rank >= arguments->pes) {
        fprintf(stderr, "emulated NVSHMEM bootstrap: no unique id, or rank %d of %d\n", arguments->rank, arguments->pes);
        return 1;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)id.pid, (int)id.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct place *place = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) {
        close(fd);
    }
    if (place == MAP_FAILED || place->token != id.token) {
        fprintf(stderr, "emulated NVSHMEM bootstrap: the process that made the unique id is gone\n");
        return 1;
    }
    *bootstrap = (struct bootstrap){arguments->rank, arguments->pes, allgather, barrier, finalize, place};
    int none = 0;
    if (!atomic_compare_exchange_strong(&place->pes, &none, arguments->pes) && none != arguments->pes) {
        fprintf(stderr, "emulated NVSHMEM bootstrap: %d PEs here, %d elsewhere\n", arguments->pes, none);
        return 1;
    }
    int joined = barrier(bootstrap);
    if (place_fd >= 0) {
        /* All have opened it. */
        close(place_fd);
        place_fd = -1;
    }
    return joined;
}
