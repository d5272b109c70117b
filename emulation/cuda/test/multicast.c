#include <signal.h>
#include <sys/socket.h>

#include "check.h"

static const struct multicast_properties TWO = {.devices = 2, .size = 2 * GRANULE, .handle_types = HANDLE_POSIX_DESCRIPTOR};

/* One rank of two, each on a device of its own, each with memory of two granules bound to the one object. */
static void rank(int rank, int peer) {
    uint64_t multicast, stream;
    int fd;
    start(rank);
    if (rank == 0) {
        CHECK_OK(cuMulticastCreate(&multicast, &TWO));
        CHECK_OK(cuMemExportToShareableHandle(&fd, multicast, 1, 0));
        send_fd(peer, fd);
    } else {
        fd = receive_fd(peer);
        CHECK_OK(cuMemImportFromShareableHandle(&multicast, (uint64_t)fd, 1));
    }
    close(fd);
    CHECK_OK(cuMulticastAddDevice(multicast, rank));
    CHECK_RESULT(INVALID_VALUE, cuMulticastAddDevice(multicast, rank));
    uint64_t handle = created(rank, 2 * GRANULE);
    uint64_t own = mapped(handle, 2 * GRANULE, rank);
    CHECK_OK(cuMulticastBindMem(multicast, 0, handle, 0, 2 * GRANULE, 0));
    CHECK_RESULT(INVALID_VALUE, cuMulticastBindMem(multicast, 0, handle, 0, GRANULE, 0));
    uint64_t all = mapped(multicast, 2 * GRANULE, rank);
    tell(peer);
    hear(peer);

    CHECK_OK(cuStreamCreate(&stream, 1));
    if (rank == 0) {
        CHECK_OK(cuMemsetD32Async(all + GRANULE - 8, 0x1234, 4, stream));
        CHECK_OK(cuMemcpyHtoDAsync_v2(all + 64, "everywhere", 11, stream));
        CHECK_OK(cuStreamWriteValue64_v2(stream, all + 128, 99, 0));
    }
    CHECK_OK(cuStreamWaitValue64_v2(stream, own + 128, 99, 1));
    CHECK_OK(cuStreamSynchronize(stream));
    CHECK(*(volatile uint32_t *)(own + GRANULE + 4) == 0x1234);
    CHECK(memcmp((void *)(own + 64), "everywhere", 11) == 0);
    CHECK_RESULT(INVALID_VALUE, cuMemcpyDtoD_v2(own, all, 8));
    CHECK_RESULT(INVALID_VALUE, cuStreamWaitValue64_v2(stream, all, 1, 0));
    tell(peer);
    hear(peer);

    CHECK_OK(cuMemUnmap(all, 2 * GRANULE));
    CHECK_OK(cuMulticastUnbind(multicast, rank, 0, 2 * GRANULE));
    CHECK_RESULT(INVALID_VALUE, cuMulticastUnbind(multicast, rank, 0, 2 * GRANULE));
    CHECK_OK(cuMemRelease(multicast));
    CHECK_OK(cuMemUnmap(own, 2 * GRANULE));
    CHECK_OK(cuMemRelease(handle));
    CHECK(live("multicastObjects") == 0 && live("multicastBindings") == 0 && live("memories") == 0);
    CHECK(live("exportedDescriptors") == 0);
}

static void stores_reach_every_process(void) {
    int sockets[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    pid_t child = start_process();
    if (child == 0) {
        rank(1, sockets[1]);
        exit(0);
    }
    rank(0, sockets[0]);
    must_exit_well(child);
}

static void binding_needs_every_device(void) {
    uint64_t multicast;
    size_t minimum, recommended;
    start(0);
    CHECK_OK(cuMulticastGetGranularity(&minimum, &TWO, 0));
    CHECK_OK(cuMulticastGetGranularity(&recommended, &TWO, 1));
    CHECK(minimum == GRANULE && recommended == 2 * GRANULE);
    struct multicast_properties bad = TWO;
    bad.size = GRANULE + 4096;
    CHECK_RESULT(INVALID_VALUE, cuMulticastCreate(&multicast, &bad));
    CHECK_OK(cuMulticastCreate(&multicast, &TWO));
    uint64_t handle = created(0, GRANULE), address;
    CHECK_OK(cuMulticastAddDevice(multicast, 0));
    CHECK_RESULT(SYSTEM_NOT_READY, cuMulticastBindMem(multicast, 0, handle, 0, GRANULE, 0));
    CHECK_OK(cuMemAddressReserve(&address, GRANULE, 0, 0, 0));
    CHECK_RESULT(SYSTEM_NOT_READY, cuMemMap(address, GRANULE, 0, multicast, 0));
    CHECK_OK(cuMulticastAddDevice(multicast, 1));
    CHECK_OK(cuMulticastBindMem(multicast, GRANULE, handle, 0, GRANULE, 0));
    CHECK_RESULT(INVALID_VALUE, cuMulticastBindMem(multicast, 2 * GRANULE, handle, 0, GRANULE, 0));
    CHECK_RESULT(INVALID_VALUE, cuMulticastBindMem(multicast, 0, handle, GRANULE, GRANULE, 0));
    CHECK_RESULT(INVALID_VALUE, cuMulticastBindMem(multicast, 0, multicast, 0, GRANULE, 0));
    /* Device 1 has bound nothing: a store there is an error, not half a store. */
    uint64_t all = mapped(multicast, 2 * GRANULE, 0);
    CHECK_RESULT(ILLEGAL_ADDRESS, cuMemsetD8_v2(all + GRANULE, 1, 1));
}

static void a_late_importer_is_refused(void) {
    uint64_t multicast, again;
    int fd;
    start(0);
    CHECK_OK(cuMulticastCreate(&multicast, &TWO));
    CHECK_OK(cuMemExportToShareableHandle(&fd, multicast, 1, 0));
    CHECK_OK(cuMemImportFromShareableHandle(&again, (uint64_t)fd, 1));
    CHECK_OK(cuMemRelease(multicast));
    CHECK_OK(cuMemImportFromShareableHandle(&multicast, (uint64_t)fd, 1));
    CHECK_OK(cuMemRelease(multicast));
    CHECK_OK(cuMemRelease(again));
    CHECK_RESULT(INVALID_VALUE, cuMemImportFromShareableHandle(&multicast, (uint64_t)fd, 1));
}

static void without_the_switch_there_is_no_multicast(void) {
    uint64_t multicast;
    int value;
    start(0);
    CHECK_OK(cuDeviceGetAttribute(&value, 132, 0));
    CHECK(value == 0);
    CHECK_RESULT(NOT_SUPPORTED, cuMulticastCreate(&multicast, &TWO));
}

#define ON "SYMMEM_EMULATION_MULTICAST=1", "SYMMEM_EMULATION_DEVICES=2", "SYMMEM_EMULATION_BIND_WAIT_MS="

const struct test MULTICAST_TESTS[] = {
    {"a store through multicast reaches every process", stores_reach_every_process, {ON "5000", NULL}},
    {"binding needs every device", binding_needs_every_device, {ON "20", NULL}},
    {"a late importer is refused", a_late_importer_is_refused, {ON "20", NULL}},
    {"without the switch there is no multicast", without_the_switch_there_is_no_multicast, {NULL}},
    {NULL, NULL, {NULL}},
};
