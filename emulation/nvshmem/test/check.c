/*
 * The emulated library's own tests, over the emulated driver. Each test is a job of processes that load the library by path, as its
 * users do; every process has an expected exit status, since the library ends processes on its own.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../src/nvshmem.h"

enum { MOST_PES = 4, ENDED_BY_THE_LIBRARY = 255 };
#define MEBIBYTE ((size_t)1 << 20)

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                               \
        }                                                                           \
    } while (0)

static const char *folder, *cuda_folder;

static struct {
    int (*nvshmemx_get_uniqueid)(struct unique_id *);
    int (*nvshmemx_set_attr_uniqueid_args)(int, int, const struct unique_id *, struct init_attributes *);
    int (*nvshmemx_hostlib_init_attr)(unsigned, struct init_attributes *);
    void (*nvshmemx_hostlib_finalize)(void);
    int (*nvshmemx_init_status)(void);
    void *(*nvshmem_malloc)(size_t);
    void (*nvshmem_free)(void *);
    void *(*nvshmem_ptr)(const void *, int);
    void (*nvshmemx_putmem_on_stream)(void *, const void *, size_t, int, uint64_t);
    void (*nvshmemx_signal_wait_until_on_stream)(uint64_t *, int, uint64_t, uint64_t);
    int (*nvshmem_team_split_strided)(int, int, int, int, const void *, long, int *);
    void (*nvshmem_barrier_all)(void);
    void *(*nvshmemx_buffer_register_symmetric)(void *, size_t, int);
} nvshmem;
static struct {
    int (*cuInit)(unsigned);
    int (*cuDevicePrimaryCtxRetain)(uint64_t *, int);
    int (*cuCtxSetCurrent)(uint64_t);
    int (*cuMemsetD8_v2)(uint64_t, uint8_t, size_t);
    int (*cuMemcpyDtoH_v2)(void *, uint64_t, size_t);
    int (*cuStreamSynchronize)(uint64_t);
    int (*cuMemCreate)(uint64_t *, size_t, const void *, uint64_t);
    int (*cuMemAddressReserve)(uint64_t *, size_t, size_t, uint64_t, uint64_t);
    int (*cuMemMap)(uint64_t, size_t, size_t, uint64_t, uint64_t);
    int (*cuMemSetAccess)(uint64_t, size_t, const void *, size_t);
} cuda;

static void *opened(const char *from, const char *name) {
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", from, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    return library;
}

static void look_up(void *library, void **functions, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        functions[i] = dlsym(library, names[i]);
        CHECK(functions[i] != NULL);
    }
}

/* Loads driver and library, and selects a device. */
static void load(int device) {
    static const char *const CUDA[] = {"cuInit", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemsetD8_v2", "cuMemcpyDtoH_v2",
        "cuStreamSynchronize", "cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"};
    static const char *const NVSHMEM[] = {"nvshmemx_get_uniqueid", "nvshmemx_set_attr_uniqueid_args", "nvshmemx_hostlib_init_attr",
        "nvshmemx_hostlib_finalize", "nvshmemx_init_status", "nvshmem_malloc", "nvshmem_free", "nvshmem_ptr", "nvshmemx_putmem_on_stream",
        "nvshmemx_signal_wait_until_on_stream", "nvshmem_team_split_strided", "nvshmem_barrier_all", "nvshmemx_buffer_register_symmetric"};
    look_up(opened(cuda_folder, "libcuda.so.1"), (void **)&cuda, CUDA, sizeof CUDA / sizeof CUDA[0]);
    look_up(opened(folder, "libnvshmem_host.so.3"), (void **)&nvshmem, NVSHMEM, sizeof NVSHMEM / sizeof NVSHMEM[0]);
    uint64_t context;
    CHECK(cuda.cuInit(0) == 0 && cuda.cuDevicePrimaryCtxRetain(&context, device) == 0 && cuda.cuCtxSetCurrent(context) == 0);
}

/* Where the unique id is handed from rank 0 to the others; shared by the processes of a job. */
struct job {
    volatile int ready;
    struct unique_id id;
};

static int start(struct job *job, int rank, int pes) {
    if (rank == 0) {
        job->id.version = VERSION_OF(struct unique_id);
        int status = nvshmem.nvshmemx_get_uniqueid(&job->id);
        job->ready = status == SUCCESS ? 1 : -1;
    }
    while (job->ready == 0) {
        poll(NULL, 0, 1);
    }
    if (job->ready < 0) {
        return INTERNAL;
    }
    static struct unique_id id;
    id = job->id;
    struct init_attributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.version = VERSION_OF(struct init_attributes);
    attributes.arguments.version = VERSION_OF(struct init_arguments);
    CHECK(nvshmem.nvshmemx_set_attr_uniqueid_args(rank, pes, &id, &attributes) == SUCCESS);
    return nvshmem.nvshmemx_hostlib_init_attr(INIT_WITH_UNIQUE_ID, &attributes);
}

static void peers_reach_each_others_heap(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == SUCCESS && nvshmem.nvshmemx_init_status() == (pes > 1 ? LIMITED_MPG : INITIALIZED));
    char *block = nvshmem.nvshmem_malloc(3 * MEBIBYTE);
    char byte = 0;
    CHECK(block != NULL && nvshmem.nvshmem_ptr(block, rank) == block);
    CHECK(cuda.cuMemcpyDtoH_v2(&byte, (uint64_t)block, 1) == 0 && byte != 0);
    CHECK(cuda.cuMemsetD8_v2((uint64_t)block, (uint8_t)(rank + 1), 3 * MEBIBYTE) == 0);
    nvshmem.nvshmem_barrier_all();
    for (int pe = 0; pe < pes; pe++) {
        char *theirs = nvshmem.nvshmem_ptr(block + 2 * MEBIBYTE, pe);
        CHECK(theirs != NULL && cuda.cuMemcpyDtoH_v2(&byte, (uint64_t)theirs, 1) == 0 && byte == pe + 1);
    }
    nvshmem.nvshmem_barrier_all();
    int next = (rank + 1) % pes;
    nvshmem.nvshmemx_putmem_on_stream(block, block + MEBIBYTE, 16, next, 0);
    CHECK(cuda.cuStreamSynchronize(0) == 0);
    nvshmem.nvshmem_barrier_all();
    CHECK(cuda.cuMemcpyDtoH_v2(&byte, (uint64_t)block + 15, 1) == 0 && byte == (rank + pes - 1) % pes + 1);
    CHECK(nvshmem.nvshmem_ptr(&byte, rank) == NULL && nvshmem.nvshmem_malloc(0) == NULL);
    nvshmem.nvshmem_free(block);
    nvshmem.nvshmemx_hostlib_finalize();
    CHECK(nvshmem.nvshmemx_init_status() == NOT_INITIALIZED);
}

static void pes_with_devices_of_their_own_are_not_limited(struct job *job, int rank, int pes) {
    load(rank);
    CHECK(start(job, rank, pes) == SUCCESS && nvshmem.nvshmemx_init_status() == INITIALIZED);
    uint64_t *word = nvshmem.nvshmem_malloc(8);
    CHECK(cuda.cuMemsetD8_v2((uint64_t)word, 1, 8) == 0);
    nvshmem.nvshmemx_signal_wait_until_on_stream(word, COMPARE_GE, 1, 0);
    CHECK(cuda.cuStreamSynchronize(0) == 0);
    nvshmem.nvshmemx_hostlib_finalize();
}

static void a_wait_ends_the_process_where_pes_share_a_device(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == SUCCESS);
    nvshmem.nvshmemx_signal_wait_until_on_stream(nvshmem.nvshmem_malloc(8), COMPARE_GE, 1, 0);
}

static void making_a_team_ends_the_process_where_pes_share_a_device(struct job *job, int rank, int pes) {
    load(0);
    int team;
    CHECK(start(job, rank, pes) == SUCCESS);
    nvshmem.nvshmem_team_split_strided(TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
}

static void different_sizes_end_the_processes(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == SUCCESS);
    nvshmem.nvshmem_malloc(100 + (size_t)rank);
}

static void a_second_start_ends_the_process(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == SUCCESS);
    nvshmem.nvshmemx_hostlib_finalize();
    start(job, rank, pes);
}

static void an_exhausted_heap_gives_nothing_and_goes_on(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == SUCCESS);
    CHECK(nvshmem.nvshmem_malloc((size_t)1 << 45) == NULL && nvshmem.nvshmem_malloc(100 * MEBIBYTE) == NULL);
    CHECK(nvshmem.nvshmem_malloc(MEBIBYTE) != NULL);
    nvshmem.nvshmemx_hostlib_finalize();
}

static void freed_memory_is_given_again(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == SUCCESS);
    void *first = nvshmem.nvshmem_malloc(1000), *second = nvshmem.nvshmem_malloc(2000), *third = nvshmem.nvshmem_malloc(3000);
    nvshmem.nvshmem_free(second);
    CHECK(nvshmem.nvshmem_malloc(1500) == second);
    nvshmem.nvshmem_free(first);
    nvshmem.nvshmem_free(third);
    CHECK(nvshmem.nvshmem_malloc(10) == first);
    nvshmem.nvshmemx_hostlib_finalize();
}

static void buffers_of_the_user_are_registered(struct job *job, int rank, int pes) {
    load(rank);
    CHECK(start(job, rank, pes) == SUCCESS);
    struct {
        int32_t type;
        uint32_t handle_types;
        int32_t location_type, location_id;
        uint64_t rest[2];
    } properties = {1, 1, 1, rank, {0, 0}};
    struct {
        int32_t type, id;
        uint32_t flags;
    } access = {1, rank, 3};
    uint64_t handle, address;
    CHECK(cuda.cuMemCreate(&handle, 2 * MEBIBYTE, &properties, 0) == 0);
    CHECK(cuda.cuMemAddressReserve(&address, 2 * MEBIBYTE, 0, 0, 0) == 0 && cuda.cuMemMap(address, 2 * MEBIBYTE, 0, handle, 0) == 0);
    CHECK(cuda.cuMemSetAccess(address, 2 * MEBIBYTE, &access, 1) == 0);
    CHECK(cuda.cuMemsetD8_v2(address, (uint8_t)(rank + 7), 2 * MEBIBYTE) == 0);
    char *symmetric = nvshmem.nvshmemx_buffer_register_symmetric((void *)address, 2 * MEBIBYTE, 0);
    CHECK(symmetric != NULL);
    for (int pe = 0; pe < pes; pe++) {
        char byte;
        CHECK(cuda.cuMemcpyDtoH_v2(&byte, (uint64_t)nvshmem.nvshmem_ptr(symmetric + 5, pe), 1) == 0 && byte == pe + 7);
    }
    nvshmem.nvshmemx_hostlib_finalize();
}

static void a_start_without_its_plugin_is_an_error(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == INTERNAL);
}

static void failures_come_on_demand(struct job *job, int rank, int pes) {
    load(0);
    CHECK(start(job, rank, pes) == SUCCESS);
    CHECK(nvshmem.nvshmem_malloc(8) != NULL);
    CHECK((nvshmem.nvshmem_malloc(8) == NULL) == (rank == 1));
    nvshmem.nvshmemx_hostlib_finalize();
}

static void libraries_can_lack_functions(struct job *job, int rank, int pes) {
    (void)job, (void)rank, (void)pes;
    char path[4096];
    snprintf(path, sizeof path, "%s/bare", folder);
    void *bare = opened(path, "libnvshmem_host.so.3");
    CHECK(dlsym(bare, "nvshmem_ptr") != NULL && dlsym(bare, "nvshmemx_buffer_register_symmetric") == NULL);
    snprintf(path, sizeof path, "%s/incomplete/libnvshmem_host.so.3", folder);
    void *incomplete = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    CHECK(incomplete != NULL && dlsym(incomplete, "nvshmem_malloc") != NULL && dlsym(incomplete, "nvshmem_ptr") == NULL);
}

static const struct test {
    const char *name;
    void (*run)(struct job *job, int rank, int pes);
    int pes, status;
    const char *environment[4];
} TESTS[] = {
#define TEST(function, ...) {#function, function, __VA_ARGS__}
    TEST(peers_reach_each_others_heap, 1, 0, {NULL}),
    TEST(peers_reach_each_others_heap, 4, 0, {NULL}),
    TEST(pes_with_devices_of_their_own_are_not_limited, 2, 0, {"SYMMEM_EMULATION_DEVICES=2"}),
    TEST(a_wait_ends_the_process_where_pes_share_a_device, 2, ENDED_BY_THE_LIBRARY, {NULL}),
    TEST(making_a_team_ends_the_process_where_pes_share_a_device, 2, ENDED_BY_THE_LIBRARY, {NULL}),
    TEST(different_sizes_end_the_processes, 2, ENDED_BY_THE_LIBRARY, {NULL}),
    TEST(a_second_start_ends_the_process, 2, ENDED_BY_THE_LIBRARY, {NULL}),
    TEST(an_exhausted_heap_gives_nothing_and_goes_on, 2, 0, {"SYMMEM_EMULATION_MEMORY=67108864", "NVSHMEM_CUMEM_GRANULARITY=2M"}),
    TEST(freed_memory_is_given_again, 2, 0, {NULL}),
    TEST(buffers_of_the_user_are_registered, 2, 0, {"SYMMEM_EMULATION_DEVICES=2"}),
    TEST(a_start_without_its_plugin_is_an_error, 1, 0, {"NVSHMEM_BOOTSTRAP_UID_PLUGIN=/nowhere/plugin.so"}),
    TEST(failures_come_on_demand, 2, 0, {"SYMMEM_EMULATION_NVSHMEM_FAIL=call=nvshmem_malloc,rank=1,occurrence=2"}),
    TEST(libraries_can_lack_functions, 1, 0, {NULL}),
};

static void be_rank(const struct test *test, struct job *job, int rank, int output) {
    /* Nothing outlives the tests, whatever hangs. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(60);
    char number[16], plugin[4096];
    snprintf(number, sizeof number, "%d", rank);
    snprintf(plugin, sizeof plugin, "%s/nvshmem_bootstrap_uid.so.3", folder);
    setenv("RANK", number, 1);
    setenv("NVSHMEM_BOOTSTRAP_UID_PLUGIN", plugin, 1);
    for (int i = 0; i < 4 && test->environment[i] != NULL; i++) {
        putenv((char *)test->environment[i]);
    }
    dup2(output, STDERR_FILENO);
    test->run(job, rank, test->pes);
    exit(0);
}

/* Runs a test; prints what its processes said if one ended otherwise than it should. */
static bool run(const struct test *test) {
    struct job *job = mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int output = memfd_create("output", MFD_CLOEXEC);
    pid_t pids[MOST_PES];
    CHECK(job != MAP_FAILED && output >= 0);
    for (int rank = 0; rank < test->pes; rank++) {
        pids[rank] = fork();
        CHECK(pids[rank] >= 0);
        if (pids[rank] == 0) {
            be_rank(test, job, rank, output);
        }
    }
    bool well = true;
    for (int rank = 0; rank < test->pes; rank++) {
        int status;
        CHECK(waitpid(pids[rank], &status, 0) == pids[rank]);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != test->status) {
            fprintf(stderr, "%s: rank %d of %d ended with status %#x\n", test->name, rank, test->pes, status);
            well = false;
        }
    }
    char text[4096];
    ssize_t length = pread(output, text, sizeof text - 1, 0);
    if (!well && length > 0) {
        text[length] = '\0';
        fprintf(stderr, "%s", text);
    }
    close(output);
    munmap(job, sizeof *job);
    return well;
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    folder = realpath(arguments[1], NULL);
    cuda_folder = realpath(arguments[2], NULL);
    CHECK(folder != NULL && cuda_folder != NULL);
    int failed = 0;
    for (size_t i = 0; i < sizeof TESTS / sizeof TESTS[0]; i++) {
        failed += !run(&TESTS[i]);
    }
    printf("emulated NVSHMEM: %zu tests, %d failed\n", sizeof TESTS / sizeof TESTS[0], failed);
    return failed == 0 ? 0 : 1;
}
