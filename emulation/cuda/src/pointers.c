/* What the driver says of an address. The numbers are those of CUpointer_attribute in the public documentation. */
#include <string.h>

#include "call.h"
#include "structures.h"

enum {
    CONTEXT = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    IS_LEGACY_IPC_CAPABLE = 10,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MAPPED = 13,
    ALLOWED_HANDLE_TYPES = 14,
    IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    ACCESS_FLAGS = 16,
    MEMPOOL_HANDLE = 17,
    MAPPING_SIZE = 18,
    MAPPING_BASE = 19,
    MEMORY_BLOCK_ID = 20,
    TYPE_HOST = 1,
    TYPE_DEVICE = 2,
    /* What DEVICE_ORDINAL reads for an address the driver does not know. */
    ORDINAL_UNKNOWN = -2,
};


static bool answer_is_wide(unsigned attribute) {
    switch (attribute) {
        case CONTEXT:
        case DEVICE_POINTER:
        case HOST_POINTER:
        case BUFFER_ID:
        case RANGE_START:
        case RANGE_SIZE:
        case ALLOWED_HANDLE_TYPES:
        case MEMPOOL_HANDLE:
        case MAPPING_SIZE:
        case MAPPING_BASE:
        case MEMORY_BLOCK_ID:
            return true;
        default:
            return false;
    }
}

static enum result of_mapping(const struct mapping *mapping, unsigned attribute, uint64_t address, uint64_t *value) {
    const struct memory *memory = mapping->handle->memory;
    switch (attribute) {
        case CONTEXT:
        case SYNC_MEMOPS:
        case IS_MANAGED:
        case IS_LEGACY_IPC_CAPABLE:
        case MEMPOOL_HANDLE:
            *value = 0;
            return OK;
        case MEMORY_TYPE:
            *value = TYPE_DEVICE;
            return OK;
        case DEVICE_POINTER:
            *value = address;
            return OK;
        case DEVICE_ORDINAL:
            *value = (uint64_t)(memory != NULL ? ordinal_of(memory->device) : ORDINAL_UNKNOWN);
            return OK;
        case BUFFER_ID:
        case MEMORY_BLOCK_ID:
            *value = memory != NULL ? memory->inode : mapping->handle->id;
            return OK;
        case RANGE_START:
        case MAPPING_BASE:
            *value = mapping->address;
            return OK;
        case RANGE_SIZE:
        case MAPPING_SIZE:
            *value = mapping->size;
            return OK;
        case MAPPED:
            *value = 1;
            return OK;
        case ALLOWED_HANDLE_TYPES:
            *value = memory != NULL ? memory->handle_types : multicast_exportable(mapping->handle->multicast);
            return OK;
        case IS_GPU_DIRECT_RDMA_CAPABLE:
            *value = memory != NULL && memory->rdma;
            return OK;
        case ACCESS_FLAGS: {
            const struct context *context = context_current();
            *value = context != NULL ? mapping->access[context->device] : 0;
            return OK;
        }
        default:
            return INVALID_VALUE;
    }
}

static enum result of_plain(const struct plain *plain, unsigned attribute, uint64_t address, uint64_t *value) {
    bool device = plain->memory != NULL;
    switch (attribute) {
        case CONTEXT:
            *value = plain->context->id;
            return OK;
        case MEMORY_TYPE:
            *value = device ? TYPE_DEVICE : TYPE_HOST;
            return OK;
        case DEVICE_POINTER:
            *value = address;
            return OK;
        case HOST_POINTER:
            *value = address;
            return device ? INVALID_VALUE : OK;
        case SYNC_MEMOPS:
        case IS_MANAGED:
        case ALLOWED_HANDLE_TYPES:
        case IS_GPU_DIRECT_RDMA_CAPABLE:
        case MEMPOOL_HANDLE:
            *value = 0;
            return OK;
        case BUFFER_ID:
        case MEMORY_BLOCK_ID:
            *value = device ? plain->memory->inode : plain->address;
            return OK;
        case DEVICE_ORDINAL:
            *value = (uint64_t)ordinal_of(device ? plain->memory->device : plain->context->device);
            return OK;
        case IS_LEGACY_IPC_CAPABLE:
            *value = plain->type == PLAIN_DEVICE;
            return OK;
        case RANGE_START:
        case MAPPING_BASE:
            *value = plain->address;
            return OK;
        case RANGE_SIZE:
        case MAPPING_SIZE:
            *value = plain->size;
            return OK;
        case MAPPED:
            *value = 1;
            return OK;
        case ACCESS_FLAGS:
            *value = ACCESS_READ_WRITE;
            return OK;
        default:
            return INVALID_VALUE;
    }
}

static enum result ask(void *out, unsigned attribute, uint64_t address) {
    const struct mapping *mapping = mapping_at(address);
    const struct plain *plain = plain_at(address);
    uint64_t value;
    if (out == NULL || (mapping == NULL && plain == NULL)) {
        return INVALID_VALUE;
    }
    enum result result = mapping != NULL ? of_mapping(mapping, attribute, address, &value) : of_plain(plain, attribute, address, &value);
    if (result == OK) {
        memcpy(out, &value, answer_is_wide(attribute) ? 8 : 4);
    }
    return result;
}

/* Unlike the single question, an unknown address or attribute is no error here: the answer is then zero, the ordinal -2. */
static enum result ask_all(unsigned count, const unsigned *attributes, void **out, uint64_t address) {
    if (attributes == NULL || out == NULL) {
        return INVALID_VALUE;
    }
    for (unsigned i = 0; i < count; i++) {
        if (attributes[i] < CONTEXT || attributes[i] > MEMORY_BLOCK_ID || out[i] == NULL) {
            return INVALID_VALUE;
        }
        if (ask(out[i], attributes[i], address) != OK) {
            int64_t nothing = attributes[i] == DEVICE_ORDINAL ? ORDINAL_UNKNOWN : 0;
            memcpy(out[i], &nothing, answer_is_wide(attributes[i]) ? 8 : 4);
        }
    }
    return OK;
}

EXPORT int cuPointerGetAttribute(void *out, unsigned attribute, uint64_t address) {
    CALL(NEEDS_DRIVER, "attribute=%u,address=%#lx", attribute, address);
    REPLY(ask(out, attribute, address));
}

EXPORT int cuPointerGetAttributes(unsigned count, const unsigned *attributes, void **out, uint64_t address) {
    CALL(NEEDS_DRIVER, "count=%u,address=%#lx", count, address);
    REPLY(ask_all(count, attributes, out, address));
}

/* Copies here are over when the driver says so whatever this is set to. */
EXPORT int cuPointerSetAttribute(const void *value, unsigned attribute, uint64_t address) {
    CALL(NEEDS_DRIVER, "attribute=%u,address=%#lx", attribute, address);
    bool known = mapping_at(address) != NULL || plain_at(address) != NULL;
    REPLY(value != NULL && attribute == SYNC_MEMOPS && known ? OK : INVALID_VALUE);
}
