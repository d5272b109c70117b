/* Memory by address alone: cuMemAlloc and what other processes open of it, pinned host memory, registered host memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "call.h"
#include "structures.h"

enum {
    /*
     * Where an allocation begins in its pages. The driver aligns to 512 bytes and packs; code that takes an address for the begin
     * of a page or of a granule must not get away with it here.
     */
    ALIGNMENT = 512,
    IPC_LAZY_PEER_ACCESS = 1,
};

/* The 64 bytes that a caller carries to another process. */
struct ipc_handle {
    uint64_t magic;
    int32_t pid;
    int32_t fd;
    uint64_t start_time;
    uint64_t inode;
    uint64_t size;
    uint64_t address;
    uint64_t rest[2];
};
static_assert(sizeof(struct ipc_handle) == 64, "ABI");

static const uint64_t IPC_MAGIC = 0x31637049756d45u;

static struct plain *plains;

static enum kind kind_of(enum plain_type type) {
    static const enum kind KINDS_OF[] = {
        [PLAIN_DEVICE] = PLAIN_ALLOCATIONS,
        [PLAIN_HOST] = HOST_ALLOCATIONS,
        [PLAIN_REGISTERED] = HOST_REGISTRATIONS,
        [PLAIN_IPC] = IPC_MAPPINGS,
    };
    return KINDS_OF[type];
}

static size_t round_up(size_t size, size_t unit) {
    return (size + unit - 1) / unit * unit;
}

struct plain *plain_at(uint64_t address) {
    for (struct plain *plain = plains; plain != NULL; plain = plain->next) {
        if (address >= plain->address && address - plain->address < plain->size) {
            return plain;
        }
    }
    return NULL;
}

static struct plain *plain_new(struct plain from) {
    struct plain *plain = malloc(sizeof *plain);
    *plain = from;
    plain->next = plains;
    plains = plain;
    live_add(kind_of(plain->type), 1);
    return plain;
}

static void plain_remove(struct plain **link) {
    struct plain *plain = *link;
    *link = plain->next;
    live_add(kind_of(plain->type), -1);
    if (plain->memory != NULL) {
        munmap((void *)(plain->address - plain->memory_offset), plain->memory->size);
        memory_release(plain->memory);
    } else if (plain->type == PLAIN_HOST) {
        munmap((void *)plain->address, round_up(plain->size, PAGE));
    }
    free(plain);
}

static enum result remove_at(uint64_t address, enum plain_type type, enum result otherwise) {
    for (struct plain **link = &plains; *link != NULL; link = &(*link)->next) {
        if ((*link)->address == address && (*link)->type == type) {
            plain_remove(link);
            return OK;
        }
    }
    return otherwise;
}

void plain_reclaim(struct context *context) {
    for (struct plain **link = &plains; *link != NULL;) {
        if ((*link)->context == context) {
            live_add(RECLAIMED, 1);
            plain_remove(link);
        } else {
            link = &(*link)->next;
        }
    }
}

static bool map_at_host(struct memory *memory, uint64_t *address) {
    int protection = setting_number("HOST_ACCESS", 1) != 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
    void *at = mmap(NULL, memory->size, protection, MAP_SHARED, memory->fd, 0);
    *address = (uint64_t)at;
    return at != MAP_FAILED;
}

static enum result allocate(struct context *context, uint64_t *address, size_t size) {
    if (address == NULL || size == 0) {
        return INVALID_VALUE;
    }
    if (size > device_total_memory()) {
        return OUT_OF_MEMORY;
    }
    struct memory *memory;
    enum result created = memory_create(round_up(size + ALIGNMENT, PAGE), context->device, 0, false, true, &memory);
    if (created != OK) {
        return created;
    }
    uint64_t base;
    if (!map_at_host(memory, &base)) {
        memory_release(memory);
        return OUT_OF_MEMORY;
    }
    *address = plain_new((struct plain){
            .type = PLAIN_DEVICE,
            .address = base + ALIGNMENT,
            .size = size,
            .memory = memory,
            .memory_offset = ALIGNMENT,
            .context = context,
    })->address;
    return OK;
}

static enum result allocate_host(struct context *context, uint64_t *address, size_t size, unsigned flags) {
    if (address == NULL || size == 0 || flags > 7) {
        return INVALID_VALUE;
    }
    void *at = mmap(NULL, round_up(size, PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return OUT_OF_MEMORY;
    }
    *address = plain_new((struct plain){
            .type = PLAIN_HOST, .address = (uint64_t)at, .size = size, .flags = flags, .context = context})->address;
    return OK;
}

static enum result register_host(struct context *context, uint64_t address, size_t size, unsigned flags) {
    if (address == 0 || size == 0 || flags > 15) {
        return INVALID_VALUE;
    }
    for (struct plain *plain = plains; plain != NULL; plain = plain->next) {
        if (address < plain->address + plain->size && plain->address < address + size) {
            return HOST_MEMORY_ALREADY_REGISTERED;
        }
    }
    plain_new((struct plain){.type = PLAIN_REGISTERED, .address = address, .size = size, .flags = flags, .context = context});
    return OK;
}

static struct plain *pinned_at(uint64_t address) {
    struct plain *plain = plain_at(address);
    return plain != NULL && (plain->type == PLAIN_HOST || plain->type == PLAIN_REGISTERED) ? plain : NULL;
}

static enum result ipc_handle_of(struct ipc_handle *handle, uint64_t address) {
    struct plain *plain = plain_at(address);
    if (handle == NULL || plain == NULL || plain->type != PLAIN_DEVICE) {
        return INVALID_VALUE;
    }
    *handle = (struct ipc_handle){
        .magic = IPC_MAGIC,
        .pid = getpid(),
        .fd = plain->memory->fd,
        .start_time = process_start_time(getpid()),
        .inode = plain->memory->inode,
        .size = plain->size,
        .address = plain->address,
    };
    return OK;
}

static enum result ipc_open(struct context *context, uint64_t *address, const struct ipc_handle *handle, unsigned flags) {
    if (address == NULL || handle->magic != IPC_MAGIC || flags != IPC_LAZY_PEER_ACCESS) {
        return INVALID_VALUE;
    }
    /* The driver does not open a handle in the process that made it. */
    if (handle->pid == getpid()) {
        return INVALID_CONTEXT;
    }
    if (!process_lives(handle->pid, handle->start_time)) {
        return INVALID_VALUE;
    }
    for (struct plain *plain = plains; plain != NULL; plain = plain->next) {
        if (plain->type == PLAIN_IPC && plain->memory->inode == handle->inode) {
            return INVALID_VALUE;
        }
    }
    struct memory *memory;
    enum result opened = memory_open_of(handle->pid, handle->fd, handle->inode, true, &memory);
    if (opened != OK) {
        return opened;
    }
    uint64_t base;
    if (!map_at_host(memory, &base)) {
        memory_release(memory);
        return OUT_OF_MEMORY;
    }
    *address = plain_new((struct plain){
            .type = PLAIN_IPC,
            .address = base + ALIGNMENT,
            .size = handle->size,
            .memory = memory,
            .memory_offset = ALIGNMENT,
            .context = context,
    })->address;
    return OK;
}

static enum result address_range(uint64_t *base, size_t *size, uint64_t address) {
    const struct mapping *mapping = mapping_at(address);
    const struct plain *plain = plain_at(address);
    if (mapping == NULL && plain == NULL) {
        return INVALID_VALUE;
    }
    if (base != NULL) {
        *base = mapping != NULL ? mapping->address : plain->address;
    }
    if (size != NULL) {
        *size = mapping != NULL ? mapping->size : plain->size;
    }
    return OK;
}

EXPORT int cuMemGetInfo_v2(size_t *available, size_t *total) {
    CALL(NEEDS_CONTEXT, "free=%p,total=%p", (void *)available, (void *)total);
    if (available == NULL || total == NULL) {
        REPLY(INVALID_VALUE);
    }
    size_t used = account_used(call.context->device);
    *total = device_total_memory();
    *available = used < *total ? *total - used : 0;
    REPLY(OK);
}

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t size) {
    CALL(NEEDS_CONTEXT, "size=%zu", size);
    REPLY(allocate(call.context, address, size));
}

EXPORT int cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    CALL(NEEDS_CONTEXT, "width=%zu,height=%zu,element=%u", width, height, element);
    if (pitch == NULL || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) {
        REPLY(INVALID_VALUE);
    }
    *pitch = round_up(width, ALIGNMENT);
    REPLY(allocate(call.context, address, *pitch * height));
}

EXPORT int cuMemFree_v2(uint64_t address) {
    CALL(NEEDS_CONTEXT, "address=%#lx", address);
    REPLY(address == 0 ? OK : remove_at(address, PLAIN_DEVICE, INVALID_VALUE));
}

EXPORT int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address) {
    CALL(NEEDS_CONTEXT, "address=%#lx", address);
    REPLY(address_range(base, size, address));
}

EXPORT int cuMemHostAlloc(uint64_t *address, size_t size, unsigned flags) {
    CALL(NEEDS_CONTEXT, "size=%zu,flags=%u", size, flags);
    REPLY(allocate_host(call.context, address, size, flags));
}

EXPORT int cuMemAllocHost_v2(uint64_t *address, size_t size) {
    CALL(NEEDS_CONTEXT, "size=%zu", size);
    REPLY(allocate_host(call.context, address, size, 0));
}

EXPORT int cuMemFreeHost(uint64_t address) {
    CALL(NEEDS_CONTEXT, "address=%#lx", address);
    REPLY(remove_at(address, PLAIN_HOST, INVALID_VALUE));
}

EXPORT int cuMemHostRegister_v2(uint64_t address, size_t size, unsigned flags) {
    CALL(NEEDS_CONTEXT, "address=%#lx,size=%zu,flags=%u", address, size, flags);
    REPLY(register_host(call.context, address, size, flags));
}

EXPORT int cuMemHostUnregister(uint64_t address) {
    CALL(NEEDS_CONTEXT, "address=%#lx", address);
    REPLY(remove_at(address, PLAIN_REGISTERED, HOST_MEMORY_NOT_REGISTERED));
}

EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *device_address, uint64_t address, unsigned flags) {
    CALL(NEEDS_CONTEXT, "address=%#lx,flags=%u", address, flags);
    if (device_address == NULL || flags != 0 || pinned_at(address) == NULL) {
        REPLY(INVALID_VALUE);
    }
    *device_address = address;
    REPLY(OK);
}

EXPORT int cuMemHostGetFlags(unsigned *flags, uint64_t address) {
    CALL(NEEDS_CONTEXT, "address=%#lx", address);
    struct plain *plain = pinned_at(address);
    if (flags == NULL || plain == NULL) {
        REPLY(INVALID_VALUE);
    }
    *flags = plain->flags;
    REPLY(OK);
}

EXPORT int cuIpcGetMemHandle(struct ipc_handle *handle, uint64_t address) {
    CALL(NEEDS_CONTEXT, "address=%#lx", address);
    REPLY(ipc_handle_of(handle, address));
}

EXPORT int cuIpcOpenMemHandle_v2(uint64_t *address, struct ipc_handle handle, unsigned flags) {
    CALL(NEEDS_CONTEXT, "pid=%d,address=%#lx,flags=%u", handle.pid, handle.address, flags);
    REPLY(ipc_open(call.context, address, &handle, flags));
}

EXPORT int cuIpcCloseMemHandle(uint64_t address) {
    CALL(NEEDS_CONTEXT, "address=%#lx", address);
    REPLY(remove_at(address, PLAIN_IPC, INVALID_VALUE));
}
