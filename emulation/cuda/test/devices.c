#include "check.h"

static void nothing_works_before_init(void) {
    int value;
    uint64_t handle;
    CHECK_RESULT(NOT_INITIALIZED, cuDeviceGetCount(&value));
    CHECK_RESULT(NOT_INITIALIZED, cuMemRelease(1));
    CHECK_OK(cuDriverGetVersion(&value));
    CHECK(value == 13000);
    const char *name;
    CHECK_OK(cuGetErrorName(700, &name));
    CHECK(strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    CHECK_RESULT(INVALID_VALUE, cuGetErrorName(12345, &name));
    CHECK_RESULT(INVALID_VALUE, cuInit(1));
    CHECK_OK(cuInit(0));
    CHECK_RESULT(INVALID_CONTEXT, cuStreamCreate(&handle, 0));
    pid_t child = start_process();
    if (child == 0) {
        /* A child of fork() does not inherit the driver. */
        CHECK_RESULT(NOT_INITIALIZED, cuDeviceGetCount(&value));
        _exit(0);
    }
    must_exit_well(child);
}

static void an_empty_list_shows_no_device(void) {
    CHECK_RESULT(NO_DEVICE, cuInit(0));
}

static void a_permuted_list_renumbers_devices(void) {
    int count, bus;
    uint8_t uuid[16];
    CHECK_OK(cuInit(0));
    CHECK_OK(cuDeviceGetCount(&count));
    CHECK(count == 2);
    CHECK_OK(cuDeviceGetUuid_v2(uuid, 0));
    CHECK(uuid[15] == 2);
    CHECK_OK(cuDeviceGetAttribute(&bus, 33, 1));
    CHECK(bus == 1);
    CHECK_RESULT(INVALID_DEVICE, cuDeviceGet(&count, 2));
}

static void a_uuid_names_a_device(void) {
    uint8_t uuid[16];
    int count;
    CHECK_OK(cuInit(0));
    CHECK_OK(cuDeviceGetCount(&count));
    CHECK(count == 1);
    CHECK_OK(cuDeviceGetUuid_v2(uuid, 0));
    CHECK(uuid[15] == 1);
}

static void attributes_are_an_h200_without_fabric(void) {
    static const struct {
        int attribute, value;
    } EXPECTED[] = {{102, 1}, {103, 1}, {128, 1}, {132, 0}, {122, 1}, {98, 0}, {75, 9}, {76, 0}, {16, 16}, {41, 1}, {115, 0}};
    int value;
    char name[64], id[16];
    CHECK_OK(cuInit(0));
    for (size_t i = 0; i < sizeof EXPECTED / sizeof EXPECTED[0]; i++) {
        CHECK_OK(cuDeviceGetAttribute(&value, EXPECTED[i].attribute, 0));
        CHECK(value == EXPECTED[i].value);
    }
    CHECK_OK(cuDeviceGetName(name, sizeof name, 0));
    CHECK(strcmp(name, "Emulated CUDA device") == 0);
    CHECK_OK(cuDeviceGetPCIBusId(id, sizeof id, 0));
    CHECK(strcmp(id, "0000:01:00.0") == 0);
}

static void contexts_stack_and_reclaim(void) {
    uint64_t primary, own, current, stream;
    CHECK_OK(cuInit(0));
    CHECK_OK(cuDevicePrimaryCtxRetain(&primary, 0));
    CHECK_OK(cuCtxPushCurrent_v2(primary));
    CHECK_OK(cuCtxCreate_v2(&own, 0, 0));
    CHECK_OK(cuCtxGetCurrent(&current));
    CHECK(current == own && own != primary);
    CHECK_OK(cuStreamCreate(&stream, 1));
    CHECK_RESULT(INVALID_CONTEXT, cuCtxDestroy_v2(primary));
    CHECK_OK(cuCtxDestroy_v2(own));
    CHECK(live("streams") == 0 && live("reclaimedWithContext") == 1 && live("contexts") == 1);
    CHECK_RESULT(INVALID_HANDLE, cuStreamQuery(stream));
    CHECK_OK(cuCtxPopCurrent_v2(&current));
    CHECK(current == primary);
    CHECK_RESULT(INVALID_CONTEXT, cuCtxPopCurrent_v2(&current));
    CHECK_RESULT(INVALID_CONTEXT, cuCtxSynchronize());
    CHECK_OK(cuDevicePrimaryCtxRelease_v2(0));
    CHECK_RESULT(INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    CHECK(live("contexts") == 0);
}

const struct test DEVICE_TESTS[] = {
    {"nothing works before init", nothing_works_before_init, {NULL}},
    {"an empty list shows no device", an_empty_list_shows_no_device, {"CUDA_VISIBLE_DEVICES=", NULL}},
    {"no devices at all", an_empty_list_shows_no_device, {"SYMMEM_EMULATION_DEVICES=0", NULL}},
    {"a device named twice leaves none", an_empty_list_shows_no_device, {"CUDA_VISIBLE_DEVICES=0,0", NULL}},
    {"a permuted list renumbers devices", a_permuted_list_renumbers_devices,
            {"SYMMEM_EMULATION_DEVICES=4", "CUDA_VISIBLE_DEVICES=2,0,7,1", NULL}},
    {"a UUID names a device", a_uuid_names_a_device,
            {"SYMMEM_EMULATION_DEVICES=2", "CUDA_VISIBLE_DEVICES=GPU-656d756c-6174-6564-2d63-75646100e001", NULL}},
    {"attributes are an H200's without fabric", attributes_are_an_h200_without_fabric, {NULL}},
    {"contexts stack and reclaim", contexts_stack_and_reclaim, {NULL}},
    {NULL, NULL, {NULL}},
};
