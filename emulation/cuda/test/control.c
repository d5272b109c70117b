/* The emulation's own controls: failures on demand, counters, traces, the older driver. */
#include <dlfcn.h>

#include "check.h"

static void failures_come_on_demand(void) {
    uint64_t handle;
    struct allocation_properties properties = exportable(0);
    start(0);
    CHECK_OK(cuMemCreate(&handle, GRANULE, &properties, 0));
    CHECK_RESULT(OUT_OF_MEMORY, cuMemCreate(&handle, GRANULE, &properties, 0));
    CHECK_OK(cuMemCreate(&handle, GRANULE, &properties, 0));
    CHECK_RESULT(999, cuMemRelease(handle));
    CHECK_RESULT(999, cuMemRelease(handle));
    CHECK(live("handles") == 2 && emu_calls("cuMemRelease") == 2);
    CHECK_RESULT(INVALID_VALUE, emu_fail("call=cuMemMap,occurence=1,code=2"));
    CHECK_RESULT(INVALID_VALUE, emu_fail("call=cuMemMap"));
    CHECK_OK(emu_fail("call=cuMemAlloc,rank=*,code=2;call=cuStreamCreate,rank=0,code=4"));
    CHECK_OK(cuMemRelease(handle));
    CHECK_RESULT(OUT_OF_MEMORY, cuMemAlloc_v2(&handle, 8));
    CHECK_OK(cuStreamCreate(&handle, 0));
    CHECK_OK(emu_fail("call=cuMemFree,occurrence=1,code=719"));
    CHECK_OK(emu_fail(NULL));
    CHECK_OK(cuMemAlloc_v2(&handle, 8));
    CHECK_OK(cuMemFree_v2(handle));
}

static void symbols_can_be_missing(void) {
    void *function;
    int status;
    CHECK_OK(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, &status));
    CHECK(function == (void *)cuMemAlloc_v2 && status == 0);
    CHECK_OK(cuGetProcAddress_v2("cuMemcpyBatchAsync", &function, 12090, 0, &status));
    CHECK(function != (void *)cuMemcpyBatchAsync_v2);
    CHECK_OK(cuGetProcAddress_v2("cuMemcpyBatchAsync", &function, 13000, 0, &status));
    CHECK(function == (void *)cuMemcpyBatchAsync_v2);
    CHECK_RESULT(NOT_FOUND, cuGetProcAddress_v2("cuMemcpyBatchAsync", &function, 12000, 0, &status));
    CHECK(status == 2 && function == NULL);
    CHECK_RESULT(NOT_FOUND, cuGetProcAddress_v2("cuMulticastCreate", &function, 13000, 0, &status));
    CHECK(status == 1 && function == NULL);
    CHECK_RESULT(NOT_FOUND, cuGetProcAddress_v2("malloc", &function, 13000, 0, &status));
    CHECK_RESULT(NOT_SUPPORTED, cuGraphCreate());
}

static void an_older_driver_lacks_symbols(void) {
    static const char *const ABSENT[] = {"cuMulticastCreate", "cuMulticastBindMem", "cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2",
        "cuStreamBatchMemOp_v2"};
    char path[4096];
    snprintf(path, sizeof path, "%s/old/libcuda.so.1", library_folder);
    void *old = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(old != NULL);
    int (*get_version)(int *);
    int version;
    *(void **)&get_version = dlsym(old, "cuDriverGetVersion");
    CHECK(get_version != cuDriverGetVersion);
    CHECK_OK(get_version(&version));
    CHECK(version == 12000);
    for (size_t i = 0; i < sizeof ABSENT / sizeof ABSENT[0]; i++) {
        CHECK(dlsym(old, ABSENT[i]) == NULL);
    }
    CHECK(dlsym(old, "cuStreamBatchMemOp") != NULL && dlsym(old, "cuMemCreate") != NULL);
}

static bool file_holds(const char *ending, pid_t pid, const char *text) {
    char path[256], content[16384];
    snprintf(path, sizeof path, "%s/run.%d.%s", scratch_folder, (int)pid, ending);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t length = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[length] = '\0';
    return strstr(content, text) != NULL;
}

static void a_process_leaves_a_report_and_a_trace(void) {
    char report[128], trace[128];
    snprintf(report, sizeof report, "SYMMEM_EMULATION_REPORT=%s/run", scratch_folder);
    snprintf(trace, sizeof trace, "SYMMEM_EMULATION_TRACE=%s/run", scratch_folder);
    pid_t child = start_process();
    if (child == 0) {
        putenv(report);
        putenv(trace);
        putenv("RANK=3");
        start(0);
        created(0, GRANULE);
        CHECK_RESULT(INVALID_VALUE, cuMemRelease(5));
        exit(0);
    }
    must_exit_well(child);
    CHECK(file_holds("json", child, "\"emulated\":true"));
    CHECK(file_holds("json", child, "\"rank\":3"));
    CHECK(file_holds("json", child, "\"handles\":1"));
    CHECK(file_holds("json", child, "\"cuMemCreate\":1"));
    CHECK(file_holds("log", child, "cuMemCreate(size=2097152,type=1,handleTypes=1,location=1:0,usage=0,flags=0) = 0\n"));
    CHECK(file_holds("log", child, "cuMemRelease(handle=0x5) = 1\n"));
}

const struct test CONTROL_TESTS[] = {
    {"failures come on demand", failures_come_on_demand,
            {"RANK=1", "SYMMEM_EMULATION_FAIL=call=cuMemCreate,occurrence=2,rank=1,code=2;call=cuMemRelease,occurrence=*,code=999",
                    NULL}},
    {"symbols can be missing", symbols_can_be_missing, {"SYMMEM_EMULATION_MISSING=cuFoo,cuMulticastCreate", NULL}},
    {"an older driver lacks symbols", an_older_driver_lacks_symbols, {NULL}},
    {"a process leaves a report and a trace", a_process_leaves_a_report_and_a_trace, {NULL}},
    {NULL, NULL, {NULL}},
};
