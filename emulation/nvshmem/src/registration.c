/* Buffers of the user in the upper half of the heaps' addresses. */
#include "nvshmem.h"

enum { MAX_BUFFERS = 256 };

static struct chunk buffers[MAX_BUFFERS];

static size_t top(void) {
    size_t end = library.capacity / 2;
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (buffers[i].size != 0 && buffers[i].offset + buffers[i].size > end) {
            end = buffers[i].offset + buffers[i].size;
        }
    }
    return end;
}

EXPORT void *nvshmemx_buffer_register_symmetric(void *buffer, size_t size, int flags) {
    require_initialized(__func__);
    int place = 0;
    while (place < MAX_BUFFERS && buffers[place].size != 0) {
        place++;
    }
    uint64_t handle = 0;
    bool possible = place < MAX_BUFFERS && flags == 0 && size > 0 && size <= library.capacity - top();
    if (!possible || driver.cuMemRetainAllocationHandle(&handle, (uint64_t)buffer) != 0) {
        fprintf(stderr, "emulated NVSHMEM: %zu bytes at %p cannot be registered\n", size, buffer);
        handle = 0;
    }
    struct chunk chunk = {.offset = top(), .size = size};
    if (map_everywhere(&chunk, handle) != 0) {
        if (handle != 0 && chunk.handles[library.bootstrap.rank] == 0) {
            driver.cuMemRelease(handle);
        }
        unmap_everywhere(&chunk);
        return NULL;
    }
    buffers[place] = chunk;
    return (void *)(library.bases[library.bootstrap.rank] + chunk.offset);
}

EXPORT int nvshmemx_buffer_unregister_symmetric(void *symmetric, size_t size) {
    require_initialized(__func__);
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (buffers[i].size == size && library.bases[library.bootstrap.rank] + buffers[i].offset == (uint64_t)symmetric) {
            library.bootstrap.barrier(&library.bootstrap);
            unmap_everywhere(&buffers[i]);
            return SUCCESS;
        }
    }
    return INVALID_VALUE;
}
