#include <stdlib.h>
#include <sys/mman.h>

#include "call.h"
#include "structures.h"

struct reservation {
    uint64_t address;
    size_t size;
    struct reservation *next;
};

static struct reservation *reservations;
static struct mapping *mappings;

static bool within(uint64_t address, size_t size, uint64_t start, size_t length) {
    return address >= start && size <= length && address - start <= length - size;
}

static bool overlap(uint64_t a, size_t a_size, uint64_t b, size_t b_size) {
    return a < b + b_size && b < a + a_size;
}

struct mapping *mapping_at(uint64_t address) {
    for (struct mapping *mapping = mappings; mapping != NULL; mapping = mapping->next) {
        if (within(address, 1, mapping->address, mapping->size)) {
            return mapping;
        }
    }
    return NULL;
}

static bool is_reserved(uint64_t address, size_t size) {
    for (struct reservation *reservation = reservations; reservation != NULL; reservation = reservation->next) {
        if (within(address, size, reservation->address, reservation->size)) {
            return true;
        }
    }
    return false;
}

bool address_is_reserved(uint64_t address) {
    return is_reserved(address, 1);
}

static bool has_mappings(uint64_t address, size_t size) {
    for (struct mapping *mapping = mappings; mapping != NULL; mapping = mapping->next) {
        if (overlap(address, size, mapping->address, mapping->size)) {
            return true;
        }
    }
    return false;
}

static bool host_reserve_at(uint64_t address, size_t size) {
    void *there = mmap((void *)address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (there != MAP_FAILED && there != (void *)address) {
        munmap(there, size);
    }
    return there == (void *)address;
}

/* Takes the host's address space too, so that nothing else of the process can come to lie there. */
static uint64_t host_reserve(size_t size, size_t alignment, uint64_t hint) {
    if (hint != 0 && hint % alignment == 0 && host_reserve_at(hint, size)) {
        return hint;
    }
    size_t whole = size + alignment;
    if (whole < size) {
        return 0;
    }
    void *found = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) {
        return 0;
    }
    uint64_t start = (uint64_t)found;
    uint64_t address = (start + alignment - 1) / alignment * alignment;
    if (address > start) {
        munmap(found, address - start);
    }
    if (start + whole > address + size) {
        munmap((void *)(address + size), start + whole - address - size);
    }
    return address;
}

static enum result reserve(uint64_t *result, size_t size, size_t alignment, uint64_t hint, uint64_t flags) {
    if (result == NULL || flags != 0 || size == 0 || size % PAGE != 0 || hint % PAGE != 0 || (alignment & (alignment - 1)) != 0) {
        return INVALID_VALUE;
    }
    uint64_t address = host_reserve(size, alignment > GRANULARITY ? alignment : GRANULARITY, hint);
    if (address == 0) {
        return OUT_OF_MEMORY;
    }
    struct reservation *reservation = malloc(sizeof *reservation);
    *reservation = (struct reservation){address, size, reservations};
    reservations = reservation;
    live_add(RESERVATIONS, 1);
    *result = address;
    return OK;
}

static enum result free_reservation(uint64_t address, size_t size) {
    for (struct reservation **link = &reservations; *link != NULL; link = &(*link)->next) {
        struct reservation *reservation = *link;
        if (reservation->address == address && reservation->size == size && !has_mappings(address, size)) {
            *link = reservation->next;
            munmap((void *)address, size);
            free(reservation);
            live_add(RESERVATIONS, -1);
            return OK;
        }
    }
    return INVALID_VALUE;
}

/* The driver's documentation: an offset into the memory must be 0 for now. */
static enum result map(uint64_t address, size_t size, size_t offset, uint64_t id, uint64_t flags) {
    struct handle *handle = handle_find(id);
    if (handle == NULL || flags != 0 || offset != 0 || size == 0 || size % GRANULARITY != 0 || address % GRANULARITY != 0) {
        return INVALID_VALUE;
    }
    if (handle->multicast != NULL) {
        enum result complete = multicast_wait_complete(handle->multicast);
        /* It may have been released in the wait. */
        handle = handle_find(id);
        if (complete != OK || handle == NULL) {
            return complete != OK ? complete : INVALID_VALUE;
        }
    }
    size_t whole = handle->multicast != NULL ? multicast_size(handle->multicast) : handle->memory->size;
    if (size > whole || !is_reserved(address, size) || has_mappings(address, size)) {
        return INVALID_VALUE;
    }
    if (handle->memory != NULL
            && mmap((void *)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, handle->memory->fd, 0) == MAP_FAILED) {
        return OUT_OF_MEMORY;
    }
    struct mapping *mapping = malloc(sizeof *mapping);
    *mapping = (struct mapping){.address = address, .size = size, .handle = handle, .next = mappings};
    mappings = mapping;
    handle->mapped++;
    live_add(MAPPINGS, 1);
    return OK;
}

/* Whether a range is exactly one or more whole mappings side by side. */
static bool is_whole_mappings(uint64_t address, size_t size) {
    uint64_t at = address;
    while (at < address + size) {
        struct mapping *mapping = mapping_at(at);
        if (mapping == NULL || mapping->address != at || mapping->size > address + size - at) {
            return false;
        }
        at += mapping->size;
    }
    return size > 0;
}

static enum result unmap(uint64_t address, size_t size) {
    if (!is_whole_mappings(address, size)) {
        return INVALID_VALUE;
    }
    /* The addresses stay reserved, with nothing behind them. */
    mmap((void *)address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    for (struct mapping **link = &mappings; *link != NULL;) {
        struct mapping *mapping = *link;
        if (within(mapping->address, mapping->size, address, size)) {
            *link = mapping->next;
            mapping->handle->mapped--;
            handle_settle(mapping->handle);
            free(mapping);
            live_add(MAPPINGS, -1);
        } else {
            link = &mapping->next;
        }
    }
    return OK;
}

/* A multicast address has no bytes behind it: loads through it are undefined, and here they fault. */
static void host_protect(const struct mapping *mapping) {
    if (mapping->handle->multicast != NULL || setting_number("HOST_ACCESS", 1) == 0) {
        return;
    }
    int protection = PROT_NONE;
    for (int device = 0; device < MAX_DEVICES; device++) {
        protection |= (mapping->access[device] & ACCESS_READ) != 0 ? PROT_READ : 0;
        protection |= mapping->access[device] == ACCESS_READ_WRITE ? PROT_WRITE : 0;
    }
    mprotect((void *)mapping->address, mapping->size, protection);
}

static enum result set_access(uint64_t address, size_t size, const struct access_description *descriptions, size_t count) {
    if (descriptions == NULL || count == 0 || !is_whole_mappings(address, size)) {
        return INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t flags = descriptions[i].flags;
        if (descriptions[i].location.type != LOCATION_DEVICE || (flags != 0 && flags != ACCESS_READ && flags != ACCESS_READ_WRITE)) {
            return INVALID_VALUE;
        }
        if (device_of(descriptions[i].location.id) < 0) {
            return INVALID_DEVICE;
        }
    }
    for (struct mapping *mapping = mappings; mapping != NULL; mapping = mapping->next) {
        if (within(mapping->address, mapping->size, address, size)) {
            for (size_t i = 0; i < count; i++) {
                mapping->access[device_of(descriptions[i].location.id)] = (uint8_t)descriptions[i].flags;
            }
            host_protect(mapping);
        }
    }
    return OK;
}

static enum result get_access(uint64_t *flags, const struct location *location, uint64_t address) {
    struct mapping *mapping = mapping_at(address);
    if (flags == NULL || location == NULL || mapping == NULL || location->type != LOCATION_DEVICE) {
        return INVALID_VALUE;
    }
    if (device_of(location->id) < 0) {
        return INVALID_DEVICE;
    }
    *flags = mapping->access[device_of(location->id)];
    return OK;
}

EXPORT int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t hint, uint64_t flags) {
    CALL(NEEDS_DRIVER, "size=%zu,alignment=%zu,hint=%#lx,flags=%lu", size, alignment, hint, flags);
    REPLY(reserve(address, size, alignment, hint, flags));
}

EXPORT int cuMemAddressFree(uint64_t address, size_t size) {
    CALL(NEEDS_DRIVER, "address=%#lx,size=%zu", address, size);
    REPLY(free_reservation(address, size));
}

EXPORT int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
    CALL(NEEDS_DRIVER, "address=%#lx,size=%zu,offset=%zu,handle=%#lx,flags=%lu", address, size, offset, handle, flags);
    REPLY(map(address, size, offset, handle, flags));
}

EXPORT int cuMemUnmap(uint64_t address, size_t size) {
    CALL(NEEDS_DRIVER, "address=%#lx,size=%zu", address, size);
    REPLY(unmap(address, size));
}

EXPORT int cuMemSetAccess(uint64_t address, size_t size, const struct access_description *descriptions, size_t count) {
    CALL(NEEDS_DRIVER, "address=%#lx,size=%zu,location=%d:%d,access=%u,count=%zu", address, size,
            descriptions ? descriptions->location.type : -1, descriptions ? descriptions->location.id : -1,
            descriptions ? descriptions->flags : 0, count);
    REPLY(set_access(address, size, descriptions, count));
}

EXPORT int cuMemGetAccess(uint64_t *flags, const struct location *location, uint64_t address) {
    CALL(NEEDS_DRIVER, "location=%d:%d,address=%#lx", location ? location->type : -1, location ? location->id : -1, address);
    REPLY(get_access(flags, location, address));
}
