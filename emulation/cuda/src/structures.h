/* The structures that callers pass by address, with the offsets of the driver's ABI. */
#ifndef STRUCTURES_H
#define STRUCTURES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ALLOCATION_PINNED = 1,
    LOCATION_DEVICE = 1,
    HANDLE_POSIX_DESCRIPTOR = 1,
    HANDLE_FABRIC = 8,
    ACCESS_READ = 1,
    ACCESS_READ_WRITE = 3,
};

/* CUmemAllocationProp, confirmed on an H200. */
struct allocation_properties {
    int32_t type;
    uint32_t handle_types;
    int32_t location_type;
    int32_t location_id;
    uint64_t win32_data;
    uint8_t compression;
    uint8_t rdma;
    uint16_t usage;
    uint8_t reserved[4];
};
static_assert(sizeof(struct allocation_properties) == 32 && offsetof(struct allocation_properties, usage) == 26, "ABI");

/* CUmemLocation, and CUmemAccessDesc, confirmed on an H200. */
struct location {
    int32_t type;
    int32_t id;
};

struct access_description {
    struct location location;
    uint32_t flags;
};
static_assert(sizeof(struct access_description) == 12, "ABI");

/* CUmulticastObjectProp. */
struct multicast_properties {
    uint32_t devices;
    uint64_t size;
    uint64_t handle_types;
    uint64_t flags;
};
static_assert(sizeof(struct multicast_properties) == 32, "ABI");

/* CUstreamBatchMemOpParams, confirmed on an H200; a barrier has its flags at 4. */
struct memory_operation {
    uint32_t operation;
    uint32_t barrier_flags;
    uint64_t address;
    uint64_t value;
    uint32_t flags;
    uint32_t rest[5];
};
static_assert(sizeof(struct memory_operation) == 48 && offsetof(struct memory_operation, flags) == 24, "ABI");

/* CUmemcpyAttributes. */
struct copy_attributes {
    uint32_t source_access_order;
    struct location source_hint;
    struct location target_hint;
    uint32_t flags;
};
static_assert(sizeof(struct copy_attributes) == 24, "ABI");

#endif
