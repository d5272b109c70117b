/* What the exported multicast functions are made of; a driver before 12.1 has none of them. */
#ifndef MULTICAST_H
#define MULTICAST_H

#include "emulation.h"
#include "structures.h"

enum result multicast_granularity(size_t *bytes, const struct multicast_properties *properties, unsigned option);
enum result multicast_create(uint64_t *id, const struct multicast_properties *properties);
enum result multicast_add_device(uint64_t id, int ordinal);
enum result multicast_bind_memory(uint64_t id, size_t offset, uint64_t memory_id, size_t memory_offset, size_t size, uint64_t flags);
enum result multicast_bind_address(uint64_t id, size_t offset, uint64_t address, size_t size, uint64_t flags);
enum result multicast_unbind(uint64_t id, int ordinal, size_t offset, size_t size);

#endif
