#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "check.h"

static void create_refuses_what_the_driver_refuses(void) {
    uint64_t handle;
    size_t bytes;
    start(0);
    struct allocation_properties good = exportable(0);
    CHECK_OK(cuMemGetAllocationGranularity(&bytes, &good, 1));
    CHECK(bytes == GRANULE);
    CHECK_RESULT(INVALID_VALUE, cuMemGetAllocationGranularity(&bytes, &good, 2));
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, 0, &good, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE + 4096, &good, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE, &good, 1));
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE, NULL, 0));
    struct allocation_properties bad = good;
    bad.usage = 1;
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE, &bad, 0));
    bad = good;
    bad.reserved[3] = 1;
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE, &bad, 0));
    bad = good;
    bad.type = 0;
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE, &bad, 0));
    bad = good;
    bad.location_type = 3;
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE, &bad, 0));
    bad = good;
    bad.location_id = 1;
    CHECK_RESULT(INVALID_DEVICE, cuMemCreate(&handle, GRANULE, &bad, 0));
    bad = good;
    bad.handle_types = 2;
    CHECK_RESULT(INVALID_VALUE, cuMemCreate(&handle, GRANULE, &bad, 0));
    bad.handle_types = HANDLE_FABRIC;
    CHECK_RESULT(NOT_PERMITTED, cuMemCreate(&handle, GRANULE, &bad, 0));
    CHECK(live("memories") == 0 && live("handles") == 0);
    CHECK_RESULT(OUT_OF_MEMORY, cuMemCreate(&handle, (size_t)1 << 50, &good, 0));
    CHECK_OK(cuMemCreate(&handle, GRANULE, &good, 0));
    CHECK_OK(cuMemRelease(handle));
    CHECK_RESULT(INVALID_VALUE, cuMemRelease(handle));
}

static void a_switch_allows_fabric(void) {
    uint64_t handle;
    start(0);
    struct allocation_properties properties = exportable(0);
    properties.handle_types = HANDLE_FABRIC;
    CHECK_OK(cuMemCreate(&handle, GRANULE, &properties, 0));
}

static void mapping_is_checked(void) {
    uint64_t range, other;
    start(0);
    uint64_t handle = created(0, GRANULE);
    struct access_description access = {{LOCATION_DEVICE, 0}, ACCESS_READ_WRITE};
    CHECK_RESULT(INVALID_VALUE, cuMemAddressReserve(&range, GRANULE + 1, 0, 0, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemAddressReserve(&range, GRANULE, 3, 0, 0));
    CHECK_OK(cuMemAddressReserve(&range, 3 * GRANULE, 8 * GRANULE, 0, 0));
    CHECK(range % (8 * GRANULE) == 0);
    CHECK_RESULT(INVALID_VALUE, cuMemMap(range - GRANULE, GRANULE, 0, handle, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemMap(range + 4096, GRANULE, 0, handle, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemMap(range, 2 * GRANULE, 0, handle, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemMap(range, GRANULE, GRANULE, handle, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemMap(range, GRANULE, 0, handle + 16, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemSetAccess(range, GRANULE, &access, 1));
    CHECK_OK(cuMemMap(range, GRANULE, 0, handle, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemMap(range, GRANULE, 0, handle, 0));
    CHECK_OK(cuMemMap(range + GRANULE, GRANULE, 0, handle, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemSetAccess(range, 3 * GRANULE, &access, 1));
    CHECK_RESULT(INVALID_VALUE, cuMemSetAccess(range, GRANULE / 2, &access, 1));
    access.location.type = 3;
    CHECK_RESULT(INVALID_VALUE, cuMemSetAccess(range, GRANULE, &access, 1));
    access = (struct access_description){{LOCATION_DEVICE, 5}, ACCESS_READ_WRITE};
    CHECK_RESULT(INVALID_DEVICE, cuMemSetAccess(range, GRANULE, &access, 1));
    access.location.id = 0;
    CHECK_OK(cuMemSetAccess(range, 2 * GRANULE, &access, 1));
    uint64_t flags;
    CHECK_OK(cuMemGetAccess(&flags, &access.location, range + GRANULE));
    CHECK(flags == ACCESS_READ_WRITE);
    CHECK_RESULT(INVALID_VALUE, cuMemGetAccess(&flags, &access.location, range + 2 * GRANULE));
    CHECK_RESULT(INVALID_VALUE, cuMemUnmap(range, GRANULE / 2));
    CHECK_RESULT(INVALID_VALUE, cuMemUnmap(range + 2 * GRANULE, GRANULE));
    CHECK_RESULT(INVALID_VALUE, cuMemAddressFree(range, 3 * GRANULE));
    /* The same memory at two addresses is the same memory. */
    CHECK_OK(cuMemsetD8_v2(range + 7, 0x5a, 1));
    uint8_t byte;
    CHECK_OK(cuMemcpyDtoH_v2(&byte, range + GRANULE + 7, 1));
    CHECK(byte == 0x5a && *(uint8_t *)(range + 7) == 0x5a);
    CHECK_OK(cuMemUnmap(range, 2 * GRANULE));
    CHECK_RESULT(INVALID_VALUE, cuMemAddressFree(range, GRANULE));
    CHECK_OK(cuMemAddressFree(range, 3 * GRANULE));
    CHECK_RESULT(INVALID_VALUE, cuMemAddressFree(range, 3 * GRANULE));
    CHECK_OK(cuMemRelease(handle));
    CHECK(live("mappings") == 0 && live("reservations") == 0 && live("memories") == 0);
    CHECK_RESULT(INVALID_VALUE, cuMemMap(range, GRANULE, 0, handle, 0));
    CHECK_OK(cuMemAddressReserve(&other, GRANULE, 0, range, 0));
    CHECK(other == range);
}

static void memory_lives_as_long_as_anything_refers_to_it(void) {
    start(0);
    uint64_t handle = created(0, GRANULE), again;
    uint64_t address = mapped(handle, GRANULE, 0);
    uint32_t value = 0xabcd1234, read = 0;
    CHECK_OK(cuMemRelease(handle));
    CHECK(live("handles") == 0 && live("memories") == 1);
    CHECK_RESULT(INVALID_VALUE, cuMemRelease(handle));
    CHECK_OK(cuMemcpyHtoD_v2(address, &value, 4));
    CHECK_OK(cuMemcpyDtoH_v2(&read, address, 4));
    CHECK(read == value);
    CHECK_OK(cuMemRetainAllocationHandle(&again, address + 4096));
    CHECK(again == handle && live("handles") == 1);
    struct allocation_properties properties;
    CHECK_OK(cuMemGetAllocationPropertiesFromHandle(&properties, again));
    CHECK(properties.type == 1 && properties.handle_types == 1 && properties.location_type == 1 && properties.location_id == 0);
    CHECK_OK(cuMemUnmap(address, GRANULE));
    CHECK(live("memories") == 1);
    int fd;
    CHECK_OK(cuMemExportToShareableHandle(&fd, again, 1, 0));
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 && live("exportedDescriptors") == 1);
    CHECK_OK(cuMemRelease(again));
    CHECK(live("memories") == 0);
    CHECK_OK(cuMemImportFromShareableHandle(&again, (uint64_t)fd, 1));
    close(fd);
    CHECK(live("exportedDescriptors") == 0);
    address = mapped(again, GRANULE, 0);
    read = 0;
    CHECK_OK(cuMemcpyDtoH_v2(&read, address, 4));
    CHECK(read == value);
}

static void only_our_descriptors_are_imported(void) {
    uint64_t handle;
    start(0);
    int fd = memfd_create("something", MFD_CLOEXEC);
    CHECK(ftruncate(fd, (off_t)GRANULE) == 0);
    CHECK_RESULT(INVALID_VALUE, cuMemImportFromShareableHandle(&handle, (uint64_t)fd, 1));
    CHECK_RESULT(INVALID_VALUE, cuMemImportFromShareableHandle(&handle, 0, 1));
    CHECK_RESULT(INVALID_VALUE, cuMemImportFromShareableHandle(&handle, 987654, 1));
    CHECK_RESULT(INVALID_VALUE, cuMemImportFromShareableHandle(&handle, (uint64_t)-1, 1));
    struct allocation_properties private = exportable(0);
    private.handle_types = 0;
    CHECK_OK(cuMemCreate(&handle, GRANULE, &private, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemExportToShareableHandle(&fd, handle, 1, 0));
}

static void a_killed_exporter_leaves_the_memory_to_the_importer(void) {
    int sockets[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    pid_t child = start_process();
    if (child == 0) {
        int fd;
        start(0);
        uint64_t handle = created(0, 2 * GRANULE);
        uint64_t address = mapped(handle, 2 * GRANULE, 0);
        CHECK_OK(cuMemsetD8_v2(address, 0x11, 2 * GRANULE));
        CHECK_OK(cuMemExportToShareableHandle(&fd, handle, 1, 0));
        send_fd(sockets[1], fd);
        uint64_t stream;
        CHECK_OK(cuStreamCreate(&stream, 1));
        CHECK_OK(cuStreamWaitValue64_v2(stream, address + 8, 77, 0));
        CHECK_OK(cuStreamWriteValue64_v2(stream, address + 16, 78, 0));
        CHECK_OK(cuStreamSynchronize(stream));
        tell(sockets[1]);
        pause();
    }
    start(0);
    int fd = receive_fd(sockets[0]);
    uint64_t handle, stream, word = 0;
    CHECK_OK(cuMemImportFromShareableHandle(&handle, (uint64_t)fd, 1));
    close(fd);
    uint64_t address = mapped(handle, 2 * GRANULE, 0);
    uint8_t last;
    CHECK_OK(cuMemcpyDtoH_v2(&last, address + 2 * GRANULE - 1, 1));
    CHECK(last == 0x11);
    CHECK_OK(cuStreamCreate(&stream, 1));
    CHECK_OK(cuStreamWriteValue64_v2(stream, address + 8, 77, 0));
    CHECK_OK(cuStreamWaitValue64_v2(stream, address + 16, 78, 1));
    CHECK_OK(cuStreamSynchronize(stream));
    hear(sockets[0]);
    size_t available, total;
    CHECK_OK(cuMemGetInfo_v2(&available, &total));
    CHECK(total - available == 2 * GRANULE);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_OK(cuMemcpyDtoH_v2(&word, address + 16, 8));
    CHECK(word == 78);
    CHECK_OK(cuMemGetInfo_v2(&available, &total));
    CHECK(total - available == 2 * GRANULE);
}

static void memory_of_the_dead_is_free_again(void) {
    int sockets[2];
    uint64_t handle;
    struct allocation_properties properties = exportable(0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    pid_t child = start_process();
    if (child == 0) {
        uint64_t address;
        start(0);
        created(0, 4 * GRANULE);
        CHECK_OK(cuMemAlloc_v2(&address, GRANULE));
        tell(sockets[1]);
        pause();
    }
    start(0);
    hear(sockets[0]);
    CHECK_RESULT(OUT_OF_MEMORY, cuMemCreate(&handle, 4 * GRANULE, &properties, 0));
    CHECK_OK(cuMemCreate(&handle, 2 * GRANULE, &properties, 0));
    CHECK_RESULT(OUT_OF_MEMORY, cuMemCreate(&handle, 2 * GRANULE, &properties, 0));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_OK(cuMemCreate(&handle, 4 * GRANULE, &properties, 0));
}

static char shared_folder[] = "SYMMEM_EMULATION_DIR=/tmp/cuda-emulation-check-XXXXXX";

static void with_shared_folder(void (*run)(void)) {
    snprintf(shared_folder, sizeof shared_folder, "SYMMEM_EMULATION_DIR=%s", scratch_folder);
    putenv(shared_folder);
    run();
}

static void killed_exporter(void) {
    with_shared_folder(a_killed_exporter_leaves_the_memory_to_the_importer);
}

static void dead_process(void) {
    with_shared_folder(memory_of_the_dead_is_free_again);
}

const struct test MEMORY_TESTS[] = {
    {"create refuses what the driver refuses", create_refuses_what_the_driver_refuses, {NULL}},
    {"a switch allows fabric handles", a_switch_allows_fabric, {"SYMMEM_EMULATION_FABRIC=1", NULL}},
    {"mapping is checked", mapping_is_checked, {NULL}},
    {"memory lives as long as anything refers to it", memory_lives_as_long_as_anything_refers_to_it, {NULL}},
    {"only our descriptors are imported", only_our_descriptors_are_imported, {NULL}},
    {"a killed exporter leaves the memory to the importer", killed_exporter, {NULL}},
    {"memory of the dead is free again", dead_process, {"SYMMEM_EMULATION_MEMORY=15728640", NULL}},
    {NULL, NULL, {NULL}},
};
