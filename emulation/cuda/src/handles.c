#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "call.h"
#include "structures.h"

struct handle *handle_new(struct memory *memory, struct multicast *multicast) {
    struct handle *handle = malloc(sizeof *handle);
    *handle = (struct handle){.owned = 1, .memory = memory, .multicast = multicast};
    handle->id = object_add(OBJECT_HANDLE, handle);
    live_add(HANDLES, 1);
    return handle;
}

struct handle *handle_find(uint64_t id) {
    struct handle *handle = object_find(OBJECT_HANDLE, id);
    return handle != NULL && handle->owned > 0 ? handle : NULL;
}

/* Lets the handle go when neither the user nor a mapping has it. */
void handle_settle(struct handle *handle) {
    if (handle->owned > 0 || handle->mapped > 0) {
        return;
    }
    object_remove(handle->id);
    if (handle->multicast != NULL) {
        multicast_release(handle->multicast);
    } else {
        memory_release(handle->memory);
    }
    free(handle);
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

static enum result check_properties(const struct allocation_properties *properties) {
    if (properties == NULL || properties->type != ALLOCATION_PINNED || properties->usage != 0
            || !is_zero(properties->reserved, sizeof properties->reserved) || properties->compression > 1
            || properties->win32_data != 0 || properties->location_type != LOCATION_DEVICE
            || (properties->handle_types & ~(uint32_t)(HANDLE_POSIX_DESCRIPTOR | HANDLE_FABRIC)) != 0) {
        return INVALID_VALUE;
    }
    return device_of(properties->location_id) < 0 ? INVALID_DEVICE : OK;
}

static enum result granularity(size_t *bytes, const struct allocation_properties *properties, unsigned option) {
    enum result checked = bytes == NULL || option > 1 ? INVALID_VALUE : check_properties(properties);
    if (checked == OK) {
        *bytes = GRANULARITY;
    }
    return checked;
}

static enum result create(uint64_t *id, size_t size, const struct allocation_properties *properties, uint64_t flags) {
    if (id == NULL || flags != 0 || size == 0 || size % GRANULARITY != 0) {
        return INVALID_VALUE;
    }
    enum result checked = check_properties(properties);
    if (checked != OK) {
        return checked;
    }
    /* The attribute promises fabric handles, and creating one is refused: seen on an H200 without a fabric. */
    if ((properties->handle_types & HANDLE_FABRIC) != 0 && setting_number("FABRIC", 0) == 0) {
        return NOT_PERMITTED;
    }
    struct memory *memory;
    enum result created = memory_create(size, device_of(properties->location_id), properties->handle_types, properties->rdma != 0,
            false, &memory);
    if (created == OK) {
        *id = handle_new(memory, NULL)->id;
    }
    return created;
}

static enum result release(uint64_t id) {
    struct handle *handle = handle_find(id);
    if (handle == NULL) {
        return INVALID_VALUE;
    }
    handle->owned--;
    live_add(HANDLES, -1);
    handle_settle(handle);
    return OK;
}

static enum result retain(uint64_t *id, uint64_t address) {
    struct mapping *mapping = mapping_at(address);
    if (id == NULL || mapping == NULL) {
        return INVALID_VALUE;
    }
    mapping->handle->owned++;
    live_add(HANDLES, 1);
    *id = mapping->handle->id;
    return OK;
}

static enum result properties_of(struct allocation_properties *properties, uint64_t id) {
    struct handle *handle = handle_find(id);
    if (properties == NULL || handle == NULL || handle->memory == NULL) {
        return INVALID_VALUE;
    }
    *properties = (struct allocation_properties){
        .type = ALLOCATION_PINNED,
        .handle_types = handle->memory->handle_types,
        .location_type = LOCATION_DEVICE,
        .location_id = ordinal_of(handle->memory->device),
        .rdma = handle->memory->rdma,
    };
    return OK;
}

/* Where another process of this host finds the memory; a fabric's own handles are opaque. */
struct fabric_handle {
    uint64_t magic;
    int32_t pid;
    int32_t fd;
    uint64_t inode;
    uint8_t zero[40];
};
static_assert(sizeof(struct fabric_handle) == 64, "ABI");

static const uint64_t FABRIC_MAGIC = 0x3163697262616655u;

static enum result export_to_fabric(struct fabric_handle *fabric, const struct handle *handle) {
    if (handle->multicast != NULL) {
        return NOT_SUPPORTED;
    }
    if ((handle->memory->handle_types & HANDLE_FABRIC) == 0) {
        return INVALID_VALUE;
    }
    *fabric = (struct fabric_handle){
        .magic = FABRIC_MAGIC,
        .pid = getpid(),
        .fd = handle->memory->fd,
        .inode = handle->memory->inode,
    };
    return OK;
}

static enum result import_from_fabric(uint64_t *id, const struct fabric_handle *fabric) {
    if (id == NULL || fabric == NULL || fabric->magic != FABRIC_MAGIC) {
        return INVALID_VALUE;
    }
    struct memory *memory;
    enum result opened = memory_open_of(fabric->pid, fabric->fd, fabric->inode, false, &memory);
    if (opened == OK) {
        *id = handle_new(memory, NULL)->id;
    }
    return opened;
}

static enum result export(void *shareable, uint64_t id, unsigned type, uint64_t flags) {
    struct handle *handle = handle_find(id);
    if (shareable == NULL || handle == NULL || flags != 0 || (type != HANDLE_POSIX_DESCRIPTOR && type != HANDLE_FABRIC)) {
        return INVALID_VALUE;
    }
    if (type == HANDLE_FABRIC) {
        return export_to_fabric(shareable, handle);
    }
    bool multicast = handle->multicast != NULL;
    if (multicast ? !multicast_exportable(handle->multicast) : (handle->memory->handle_types & HANDLE_POSIX_DESCRIPTOR) == 0) {
        return INVALID_VALUE;
    }
    int fd = fcntl(multicast ? multicast_descriptor(handle->multicast) : handle->memory->fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        return OUT_OF_MEMORY;
    }
    *(int *)shareable = fd;
    return OK;
}

static enum result import(uint64_t *id, uint64_t shareable, unsigned type) {
    if (type == HANDLE_FABRIC) {
        return import_from_fabric(id, (const struct fabric_handle *)shareable);
    }
    if (id == NULL || type != HANDLE_POSIX_DESCRIPTOR || shareable > INT32_MAX) {
        return INVALID_VALUE;
    }
    struct memory *memory;
    enum result opened = memory_open((int)shareable, false, &memory);
    if (opened == OK) {
        *id = handle_new(memory, NULL)->id;
        return OK;
    }
    struct multicast *multicast;
    if (opened == INVALID_VALUE && multicast_open((int)shareable, &multicast) == OK) {
        *id = handle_new(NULL, multicast)->id;
        return OK;
    }
    return opened;
}

EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const struct allocation_properties *properties, unsigned option) {
    CALL(NEEDS_DRIVER, "option=%u", option);
    REPLY(granularity(bytes, properties, option));
}

EXPORT int cuMemCreate(uint64_t *handle, size_t size, const struct allocation_properties *properties, uint64_t flags) {
    CALL(NEEDS_DRIVER, "size=%zu,type=%d,handleTypes=%u,location=%d:%d,usage=%u,flags=%lu", size, properties ? properties->type : -1,
            properties ? properties->handle_types : 0, properties ? properties->location_type : -1,
            properties ? properties->location_id : -1, properties ? properties->usage : 0u, flags);
    REPLY(create(handle, size, properties, flags));
}

EXPORT int cuMemRelease(uint64_t handle) {
    CALL(NEEDS_DRIVER, "handle=%#lx", handle);
    REPLY(release(handle));
}

EXPORT int cuMemRetainAllocationHandle(uint64_t *handle, uint64_t address) {
    CALL(NEEDS_DRIVER, "address=%#lx", address);
    REPLY(retain(handle, address));
}

EXPORT int cuMemGetAllocationPropertiesFromHandle(struct allocation_properties *properties, uint64_t handle) {
    CALL(NEEDS_DRIVER, "handle=%#lx", handle);
    REPLY(properties_of(properties, handle));
}

EXPORT int cuMemExportToShareableHandle(void *shareable, uint64_t handle, unsigned type, uint64_t flags) {
    CALL(NEEDS_DRIVER, "handle=%#lx,type=%u,flags=%lu", handle, type, flags);
    REPLY(export(shareable, handle, type, flags));
}

/* A descriptor's number stands where the prototype has a pointer. */
EXPORT int cuMemImportFromShareableHandle(uint64_t *handle, uint64_t shareable, unsigned type) {
    CALL(NEEDS_DRIVER, "shareable=%ld,type=%u", (long)shareable, type);
    REPLY(import(handle, shareable, type));
}
