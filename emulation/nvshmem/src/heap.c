/*
 * The symmetric heap: memory of cuMemCreate that grows by chunks, mapped at equal offsets of every PE's part of one reservation.
 * Blocks are kept by every PE for itself, and are the same since all make the same calls; that they do is checked here.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "nvshmem.h"

enum { MAX_CHUNKS = 1024, MAX_BLOCKS = 8192, ALIGNMENT = 512, POISON = 0xA5 };
#define POISONED_BYTES ((size_t)64 << 10)

struct block {
    size_t offset, size;
};

static struct chunk chunks[MAX_CHUNKS];
static int chunk_count;
/* In use, by offset. */
static struct block blocks[MAX_BLOCKS];
static int block_count;
/* The library's own lock: calls of several threads are one after the other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

uint64_t address_at(uint64_t own, int pe) {
    uint64_t base = library.bases[library.bootstrap.rank];
    if (library.status < INITIALIZED || own < base || own - base >= library.capacity) {
        return 0;
    }
    return library.bases[pe] + (own - base);
}

/* What every PE tells of its memory. */
struct offer {
    int pid, fd, status;
};

static int open_offer(const struct offer *offer) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", offer->pid, offer->fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

static int map_one(struct chunk *chunk, int pe, uint64_t handle) {
    uint64_t at = library.bases[pe] + chunk->offset;
    struct {
        int32_t type, id;
        uint32_t flags;
    } access = {1, library.device, 3};
    int failed = driver.cuMemMap(at, chunk->size, 0, handle, 0);
    if (failed == 0) {
        failed = driver.cuMemSetAccess(at, chunk->size, &access, 1);
        chunk->handles[pe] = handle;
    }
    return failed;
}

static int import_and_map(struct chunk *chunk, int pe, const struct offer *offer) {
    int fd = open_offer(offer);
    if (fd < 0) {
        return OUT_OF_MEMORY;
    }
    uint64_t handle;
    int failed = driver.cuMemImportFromShareableHandle(&handle, (uint64_t)fd, 1);
    close(fd);
    return failed != 0 ? failed : map_one(chunk, pe, handle);
}

int map_everywhere(struct chunk *chunk, uint64_t handle) {
    struct offer own = {getpid(), -1, handle == 0}, all[BOOTSTRAP_MAX_PES];
    if (handle != 0) {
        own.status = driver.cuMemExportToShareableHandle(&own.fd, handle, 1, 0);
    }
    library.bootstrap.allgather(&library.bootstrap, &own, all, sizeof own);
    int failed = 0;
    for (int pe = 0; pe < library.bootstrap.pes; pe++) {
        failed = failed != 0 ? failed : all[pe].status;
    }
    for (int pe = 0; failed == 0 && pe < library.bootstrap.pes; pe++) {
        failed = pe == library.bootstrap.rank ? map_one(chunk, pe, handle) : import_and_map(chunk, pe, &all[pe]);
    }
    /* Descriptors stay open until all have taken them. */
    library.bootstrap.barrier(&library.bootstrap);
    if (own.fd >= 0) {
        close(own.fd);
    }
    return failed;
}

void unmap_everywhere(struct chunk *chunk) {
    for (int pe = 0; pe < library.bootstrap.pes; pe++) {
        if (chunk->handles[pe] != 0) {
            driver.cuMemUnmap(library.bases[pe] + chunk->offset, chunk->size);
            driver.cuMemRelease(chunk->handles[pe]);
        }
    }
    *chunk = (struct chunk){0};
}

/* The lowest offset at which a block of a size fits, and its place among the blocks. */
static bool find_room(size_t size, size_t alignment, struct block *found, int *place) {
    size_t at = 0;
    for (int i = 0; i <= block_count; i++) {
        size_t end = i < block_count ? blocks[i].offset : library.physical;
        at = round_up(at, alignment);
        if (at <= end && size <= end - at) {
            *found = (struct block){at, size};
            *place = i;
            return true;
        }
        if (i < block_count) {
            at = blocks[i].offset + blocks[i].size;
        }
    }
    return false;
}

static bool grow(size_t size) {
    struct chunk *chunk = &chunks[chunk_count];
    *chunk = (struct chunk){.offset = library.physical, .size = round_up(size, library.granularity)};
    if (chunk_count == MAX_CHUNKS || size > library.capacity / 2 || chunk->size > library.capacity / 2 - library.physical) {
        fprintf(stderr, "emulated NVSHMEM: total of %zu bytes exceeds NVSHMEM_MAX_MEMORY_PER_GPU\n", library.physical + size);
        return false;
    }
    struct {
        int32_t type;
        uint32_t handle_types;
        int32_t location_type, location_id;
        uint64_t rest[2];
    } properties = {1, 1, 1, library.device, {0, 0}};
    uint64_t handle = 0;
    int failed = driver.cuMemCreate(&handle, chunk->size, &properties, 0);
    if (failed != 0) {
        fprintf(stderr, "emulated NVSHMEM: cuMemCreate failed with %d\n", failed);
    }
    if (map_everywhere(chunk, failed != 0 ? 0 : handle) != 0) {
        if (handle != 0 && chunk->handles[library.bootstrap.rank] == 0) {
            driver.cuMemRelease(handle);
        }
        unmap_everywhere(chunk);
        return false;
    }
    chunk_count++;
    library.physical += chunk->size;
    return true;
}

/* Memory that the device used before is not zero. */
static void poison(const struct block *block) {
    uint64_t at = library.bases[library.bootstrap.rank] + block->offset;
    size_t size = block->size < POISONED_BYTES ? block->size : POISONED_BYTES;
    driver.cuMemsetD8_v2(at, POISON, size);
    driver.cuMemsetD8_v2(at + block->size - size, POISON, size);
}

/* The real library goes wrong in ways of its own where PEs call differently. */
static void require_alike(const char *call, size_t argument) {
    struct {
        char call[32];
        size_t argument;
    } own = {{0}, argument}, all[BOOTSTRAP_MAX_PES];
    strncpy(own.call, call, sizeof own.call - 1);
    library.bootstrap.allgather(&library.bootstrap, &own, all, sizeof own);
    for (int pe = 0; pe < library.bootstrap.pes; pe++) {
        if (memcmp(&own, &all[pe], sizeof own) != 0) {
            end_process(call, "symmetry check failed: PEs call differently");
        }
    }
}

static void *allocate(const char *call, size_t alignment, size_t size) {
    if (size == 0) {
        return NULL;
    }
    require_alike(call, size);
    struct block found;
    int place;
    size_t whole = round_up(size, ALIGNMENT);
    void *result = NULL;
    if (whole >= size && block_count < MAX_BLOCKS
            && (find_room(whole, alignment, &found, &place) || (grow(whole + alignment) && find_room(whole, alignment, &found, &place)))) {
        memmove(&blocks[place + 1], &blocks[place], sizeof blocks[0] * (size_t)(block_count - place));
        blocks[place] = found;
        block_count++;
        poison(&found);
        result = (void *)(library.bases[library.bootstrap.rank] + found.offset);
    }
    library.bootstrap.barrier(&library.bootstrap);
    return failure_of(call) != 0 ? NULL : result;
}

static void *allocate_locked(const char *call, size_t alignment, size_t size) {
    require_initialized(call);
    pthread_mutex_lock(&lock);
    void *result = allocate(call, alignment, size);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT void *nvshmem_malloc(size_t size) {
    return allocate_locked(__func__, ALIGNMENT, size);
}

EXPORT void *nvshmem_align(size_t alignment, size_t size) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        end_process(__func__, "the alignment is no power of two");
    }
    return allocate_locked(__func__, alignment < ALIGNMENT ? ALIGNMENT : alignment, size);
}

EXPORT void *nvshmem_calloc(size_t count, size_t size) {
    void *result = allocate_locked(__func__, ALIGNMENT, count * size);
    if (result != NULL) {
        driver.cuMemsetD8_v2((uint64_t)result, 0, count * size);
    }
    return result;
}

/* Pieces at the end that hold no block are given back, which the real library never does: tests count what is left. */
static void shrink(void) {
    size_t end = block_count > 0 ? blocks[block_count - 1].offset + blocks[block_count - 1].size : 0;
    while (chunk_count > 1 && chunks[chunk_count - 1].offset >= end) {
        library.physical -= chunks[chunk_count - 1].size;
        unmap_everywhere(&chunks[--chunk_count]);
    }
}

EXPORT void nvshmem_free(void *pointer) {
    failure_of(__func__);
    require_initialized(__func__);
    if (pointer == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    size_t offset = (uint64_t)pointer - library.bases[library.bootstrap.rank];
    require_alike(__func__, offset);
    int place = 0;
    while (place < block_count && blocks[place].offset != offset) {
        place++;
    }
    if (place == block_count) {
        end_process(__func__, "no block of the symmetric heap begins there");
    }
    memmove(&blocks[place], &blocks[place + 1], sizeof blocks[0] * (size_t)(block_count - place - 1));
    block_count--;
    library.bootstrap.barrier(&library.bootstrap);
    shrink();
    pthread_mutex_unlock(&lock);
}

bool heap_open(void) {
    library.granularity = size_from("NVSHMEM_CUMEM_GRANULARITY", (size_t)512 << 20);
    library.capacity = 2 * round_up(size_from("NVSHMEM_MAX_MEMORY_PER_GPU", (size_t)128 << 30), library.granularity);
    size_t whole = library.capacity * (size_t)library.bootstrap.pes;
    if (driver.cuMemAddressReserve(&library.reservation, whole, 0, 0, 0) != 0) {
        fprintf(stderr, "emulated NVSHMEM: cuMemAddressReserve of %zu bytes failed\n", whole);
        return false;
    }
    for (int i = 0; i < library.bootstrap.pes; i++) {
        /* The own heap comes first, so that addresses differ among PEs. */
        int pe = (library.bootstrap.rank + i) % library.bootstrap.pes;
        library.bases[pe] = library.reservation + library.capacity * (size_t)i;
    }
    /* The real library has data of its own in the heap. */
    return grow(library.granularity);
}

void heap_close(void) {
    while (chunk_count > 0) {
        unmap_everywhere(&chunks[--chunk_count]);
    }
    block_count = 0;
    driver.cuMemAddressFree(library.reservation, library.capacity * (size_t)library.bootstrap.pes);
}
