#include "emulation.h"
#include "structures.h"

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

bool range_is_pageable(uint64_t address) {
    return mapping_at(address) == NULL && plain_at(address) == NULL && !address_is_reserved(address);
}

bool range_is_known(uint64_t address, size_t size, enum side side, bool stored) {
    while (size > 0) {
        const struct mapping *mapping = mapping_at(address);
        const struct plain *plain = mapping == NULL ? plain_at(address) : NULL;
        size_t left;
        if (mapping != NULL) {
            /* A load through a multicast address is undefined on hardware; a test should hear of it at once. */
            if (mapping->handle->multicast != NULL && !stored) {
                return false;
            }
            left = mapping->address + mapping->size - address;
        } else if (plain != NULL) {
            left = plain->address + plain->size - address;
        } else {
            return side == SIDE_HOST && !address_is_reserved(address);
        }
        left = smaller(left, size);
        address += left;
        size -= left;
    }
    return true;
}

static size_t in_mapping(const struct mapping *mapping, size_t at, size_t size, int device, bool stored, struct target *targets,
        int *count) {
    uint8_t wanted = stored ? ACCESS_READ_WRITE : ACCESS_READ;
    if ((mapping->access[device] & wanted) != wanted) {
        return 0;
    }
    size_t length = smaller(size, mapping->size - at);
    if (mapping->handle->multicast != NULL) {
        return stored ? smaller(length, multicast_targets(mapping->handle->multicast, at, targets, count)) : 0;
    }
    targets[0] = (struct target){mapping->handle->memory->alias + at, mapping->handle->memory};
    memory_reference(targets[0].memory);
    return length;
}

static size_t in_plain(const struct plain *plain, size_t at, size_t size, struct target *targets) {
    if (plain->memory != NULL) {
        targets[0] = (struct target){plain->memory->alias + plain->memory_offset + at, plain->memory};
        memory_reference(plain->memory);
    } else {
        targets[0] = (struct target){(uint8_t *)plain->address + at, NULL};
    }
    return smaller(size, plain->size - at);
}

static size_t span(uint64_t address, size_t size, enum side side, int device, bool stored, struct target *targets, int *count) {
    *count = 1;
    const struct mapping *mapping = mapping_at(address);
    if (mapping != NULL) {
        return in_mapping(mapping, address - mapping->address, size, device, stored, targets, count);
    }
    const struct plain *plain = plain_at(address);
    if (plain != NULL) {
        return in_plain(plain, address - plain->address, size, targets);
    }
    if (side == SIDE_HOST && !address_is_reserved(address)) {
        targets[0] = (struct target){(uint8_t *)address, NULL};
        return size;
    }
    return 0;
}

size_t span_load(uint64_t address, size_t size, enum side side, int device, struct target *from) {
    int count;
    return span(address, size, side, device, false, from, &count);
}

size_t span_store(uint64_t address, size_t size, enum side side, int device, struct target *targets, int *count) {
    return span(address, size, side, device, true, targets, count);
}

void targets_release(struct target *targets, int count) {
    for (int i = 0; i < count; i++) {
        if (targets[i].memory != NULL) {
            memory_release(targets[i].memory);
        }
    }
}
