#include <sys/socket.h>

#include "check.h"

static void plain_memory_is_not_exportable(void) {
    uint64_t address, base, handle, wide;
    size_t size;
    unsigned type;
    int ordinal;
    start(0);
    CHECK_OK(cuMemAlloc_v2(&address, 1000));
    CHECK(address % 512 == 0 && address % 4096 != 0);
    CHECK_OK(cuMemGetAddressRange_v2(&base, &size, address + 999));
    CHECK(base == address && size == 1000);
    CHECK_RESULT(INVALID_VALUE, cuMemGetAddressRange_v2(&base, &size, address + 1000));
    CHECK_RESULT(INVALID_VALUE, cuMemRetainAllocationHandle(&handle, address));
    CHECK_OK(cuPointerGetAttribute(&type, 2, address));
    CHECK(type == 2);
    CHECK_OK(cuPointerGetAttribute(&ordinal, 9, address));
    CHECK(ordinal == 0);
    CHECK_OK(cuPointerGetAttribute(&wide, 14, address));
    CHECK(wide == 0);
    CHECK_RESULT(INVALID_VALUE, cuMemcpyDtoD_v2(address, address + 500, 501));
    CHECK_OK(cuMemFree_v2(address));
    CHECK_RESULT(INVALID_VALUE, cuMemFree_v2(address));
    CHECK(live("plainAllocations") == 0 && live("memories") == 0);
}

static void pointers_are_described(void) {
    uint64_t wide;
    unsigned type = 99;
    int ordinal = 99, local = 0;
    void *pinned;
    start(0);
    uint64_t address = mapped(created(0, 2 * GRANULE), 2 * GRANULE, 0);
    CHECK_OK(cuPointerGetAttribute(&wide, 14, address + 5));
    CHECK(wide == 1);
    CHECK_OK(cuPointerGetAttribute(&wide, 12, address + 5));
    CHECK(wide == 2 * GRANULE);
    CHECK_OK(cuPointerGetAttribute(&wide, 11, address + 5));
    CHECK(wide == address);
    CHECK_RESULT(INVALID_VALUE, cuPointerGetAttribute(&type, 2, (uint64_t)&local));
    const unsigned attributes[] = {2, 9};
    void *answers[] = {&type, &ordinal};
    CHECK_OK(cuPointerGetAttributes(2, attributes, answers, (uint64_t)&local));
    CHECK(type == 0 && ordinal == -2);
    CHECK_OK(cuMemHostAlloc(&pinned, 4096, 0));
    CHECK_OK(cuPointerGetAttributes(2, attributes, answers, (uint64_t)pinned));
    CHECK(type == 1 && ordinal == 0);
    memset(pinned, 3, 4096);
    CHECK_OK(cuMemcpyDtoD_v2(address, (uint64_t)pinned, 4096));
    CHECK(*(uint8_t *)(address + 4095) == 3);
    CHECK_OK(cuMemFreeHost(pinned));
    CHECK_RESULT(INVALID_VALUE, cuMemcpyDtoD_v2(address, (uint64_t)pinned, 4096));
}

static void an_ipc_handle_reaches_another_process(void) {
    int sockets[2];
    struct ipc handle;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    pid_t child = start_process();
    if (child == 0) {
        uint64_t address;
        start(0);
        CHECK_OK(cuMemAlloc_v2(&address, 5000));
        CHECK_OK(cuMemsetD8_v2(address, 0x42, 5000));
        CHECK_OK(cuIpcGetMemHandle(&handle, address));
        CHECK_RESULT(INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&address, handle, 1));
        CHECK(write(sockets[1], &handle, sizeof handle) == sizeof handle);
        hear(sockets[1]);
        uint8_t byte;
        CHECK_OK(cuMemcpyDtoH_v2(&byte, address + 4999, 1));
        CHECK(byte == 0x43);
        exit(0);
    }
    uint64_t address;
    uint8_t byte;
    start(0);
    CHECK(read(sockets[0], &handle, sizeof handle) == sizeof handle);
    CHECK_RESULT(INVALID_VALUE, cuIpcOpenMemHandle_v2(&address, handle, 0));
    CHECK_OK(cuIpcOpenMemHandle_v2(&address, handle, 1));
    CHECK_OK(cuMemcpyDtoH_v2(&byte, address + 4999, 1));
    CHECK(byte == 0x42);
    CHECK_OK(cuMemsetD8_v2(address + 4999, 0x43, 1));
    tell(sockets[0]);
    must_exit_well(child);
    CHECK_OK(cuIpcCloseMemHandle(address));
    CHECK_RESULT(INVALID_VALUE, cuIpcOpenMemHandle_v2(&address, handle, 1));
    CHECK_RESULT(INVALID_VALUE, cuIpcGetMemHandle(&handle, mapped(created(0, GRANULE), GRANULE, 0)));
}

const struct test PLAIN_TESTS[] = {
    {"plain memory is not exportable", plain_memory_is_not_exportable, {NULL}},
    {"pointers are described", pointers_are_described, {NULL}},
    {"an IPC handle reaches another process", an_ipc_handle_reaches_another_process, {NULL}},
    {NULL, NULL, {NULL}},
};
