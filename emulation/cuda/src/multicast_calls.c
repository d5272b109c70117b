#include "call.h"
#include "multicast.h"

EXPORT int cuMulticastGetGranularity(size_t *bytes, const struct multicast_properties *properties, unsigned option) {
    CALL(NEEDS_DRIVER, "option=%u", option);
    REPLY(multicast_granularity(bytes, properties, option));
}

EXPORT int cuMulticastCreate(uint64_t *multicast, const struct multicast_properties *properties) {
    CALL(NEEDS_DRIVER, "devices=%u,size=%lu,handleTypes=%lu,flags=%lu", properties ? properties->devices : 0,
            properties ? properties->size : 0, properties ? properties->handle_types : 0, properties ? properties->flags : 0);
    REPLY(multicast_create(multicast, properties));
}

EXPORT int cuMulticastAddDevice(uint64_t multicast, int device) {
    CALL(NEEDS_DRIVER, "multicast=%#lx,device=%d", multicast, device);
    REPLY(multicast_add_device(multicast, device));
}

EXPORT int cuMulticastBindMem(uint64_t multicast, size_t offset, uint64_t memory, size_t memory_offset, size_t size, uint64_t flags) {
    CALL(NEEDS_DRIVER, "multicast=%#lx,offset=%zu,memory=%#lx,memoryOffset=%zu,size=%zu,flags=%lu", multicast, offset, memory,
            memory_offset, size, flags);
    REPLY(multicast_bind_memory(multicast, offset, memory, memory_offset, size, flags));
}

EXPORT int cuMulticastBindAddr(uint64_t multicast, size_t offset, uint64_t address, size_t size, uint64_t flags) {
    CALL(NEEDS_DRIVER, "multicast=%#lx,offset=%zu,address=%#lx,size=%zu,flags=%lu", multicast, offset, address, size, flags);
    REPLY(multicast_bind_address(multicast, offset, address, size, flags));
}

EXPORT int cuMulticastUnbind(uint64_t multicast, int device, size_t offset, size_t size) {
    CALL(NEEDS_DRIVER, "multicast=%#lx,device=%d,offset=%zu,size=%zu", multicast, device, offset, size);
    REPLY(multicast_unbind(multicast, device, offset, size));
}
