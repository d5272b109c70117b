/* The driver's functions as the tests call them: own prototypes, every handle and address a 64-bit number. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "../src/structures.h"

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int code, const char **name);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetUuid_v2(uint8_t *uuid, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetPCIBusId(char *id, int length, int device);
int cuDevicePrimaryCtxRetain(uint64_t *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxCreate_v2(uint64_t *context, unsigned flags, int device);
int cuCtxDestroy_v2(uint64_t context);
int cuCtxSetCurrent(uint64_t context);
int cuCtxGetDevice(int *device);
int cuCtxGetCurrent(uint64_t *context);
int cuCtxPushCurrent_v2(uint64_t context);
int cuCtxPopCurrent_v2(uint64_t *context);
int cuCtxSynchronize(void);
int cuMemGetInfo_v2(size_t *available, size_t *total);
int cuMemGetAllocationGranularity(size_t *bytes, const struct allocation_properties *properties, unsigned option);
int cuMemCreate(uint64_t *handle, size_t size, const struct allocation_properties *properties, uint64_t flags);
int cuMemRelease(uint64_t handle);
int cuMemRetainAllocationHandle(uint64_t *handle, uint64_t address);
int cuMemGetAllocationPropertiesFromHandle(struct allocation_properties *properties, uint64_t handle);
int cuMemExportToShareableHandle(void *shareable, uint64_t handle, unsigned type, uint64_t flags);
int cuMemImportFromShareableHandle(uint64_t *handle, uint64_t shareable, unsigned type);
int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t hint, uint64_t flags);
int cuMemAddressFree(uint64_t address, size_t size);
int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags);
int cuMemUnmap(uint64_t address, size_t size);
int cuMemSetAccess(uint64_t address, size_t size, const struct access_description *descriptions, size_t count);
int cuMemGetAccess(uint64_t *flags, const struct location *location, uint64_t address);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuMemFree_v2(uint64_t address);
int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address);
int cuMemHostAlloc(void **address, size_t size, unsigned flags);
int cuMemFreeHost(void *address);
int cuMemHostRegister_v2(uint64_t address, size_t size, unsigned flags);
int cuMemHostUnregister(uint64_t address);
int cuPointerGetAttribute(void *out, unsigned attribute, uint64_t address);
int cuPointerGetAttributes(unsigned count, const unsigned *attributes, void **out, uint64_t address);
struct ipc { uint8_t bytes[64]; };
int cuIpcGetMemHandle(struct ipc *handle, uint64_t address);
int cuIpcOpenMemHandle_v2(uint64_t *address, struct ipc handle, unsigned flags);
int cuIpcCloseMemHandle(uint64_t address);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t size);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, uint64_t stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, uint64_t stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, uint64_t stream);
int cuMemcpyBatchAsync_v2(uint64_t *to, uint64_t *from, size_t *sizes, size_t count, struct copy_attributes *attributes,
        size_t *indices, size_t attribute_count, uint64_t stream);
int cuMemsetD8_v2(uint64_t to, uint8_t value, size_t count);
int cuMemsetD32Async(uint64_t to, uint32_t value, size_t count, uint64_t stream);
int cuMemsetD2D32Async(uint64_t to, size_t pitch, uint32_t value, size_t width, size_t height, uint64_t stream);
int cuStreamCreate(uint64_t *stream, unsigned flags);
int cuStreamDestroy_v2(uint64_t stream);
int cuStreamSynchronize(uint64_t stream);
int cuStreamQuery(uint64_t stream);
int cuStreamWaitEvent(uint64_t stream, uint64_t event, unsigned flags);
int cuStreamWaitValue32_v2(uint64_t stream, uint64_t address, uint32_t value, unsigned flags);
int cuStreamWaitValue64_v2(uint64_t stream, uint64_t address, uint64_t value, unsigned flags);
int cuStreamWriteValue32_v2(uint64_t stream, uint64_t address, uint32_t value, unsigned flags);
int cuStreamWriteValue64_v2(uint64_t stream, uint64_t address, uint64_t value, unsigned flags);
int cuStreamBatchMemOp_v2(uint64_t stream, unsigned count, const struct memory_operation *operations, unsigned flags);
int cuLaunchHostFunc(uint64_t stream, void (*function)(void *), void *data);
int cuEventCreate(uint64_t *event, unsigned flags);
int cuEventDestroy_v2(uint64_t event);
int cuEventRecord(uint64_t event, uint64_t stream);
int cuEventQuery(uint64_t event);
int cuEventSynchronize(uint64_t event);
int cuEventElapsedTime(float *milliseconds, uint64_t start, uint64_t end);
int cuMulticastGetGranularity(size_t *bytes, const struct multicast_properties *properties, unsigned option);
int cuMulticastCreate(uint64_t *multicast, const struct multicast_properties *properties);
int cuMulticastAddDevice(uint64_t multicast, int device);
int cuMulticastBindMem(uint64_t multicast, size_t offset, uint64_t memory, size_t memory_offset, size_t size, uint64_t flags);
int cuMulticastUnbind(uint64_t multicast, int device, size_t offset, size_t size);
int cuGraphCreate(void);
int emu_live_objects(char *json, size_t size);
int emu_fail(const char *specification);
uint64_t emu_calls(const char *name);

#endif
