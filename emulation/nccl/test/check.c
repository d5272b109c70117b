/* The semantics of the emulated NCCL, in several processes. Each test is a process, and so is each of its ranks. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../cuda/test/driver.h"
#include "../src/nccl.h"

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                               \
        }                                                                           \
    } while (0)

enum { RANKS = 2, SIZE = 3 << 20 };

static void start(int device) {
    uint64_t context;
    CHECK(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, device) == 0 && cuCtxSetCurrent(context) == 0);
}

typedef void rank_body(int rank, struct unique_id id);

/* Whether every rank's process ended well. */
static bool on_ranks(rank_body *body) {
    struct unique_id id;
    CHECK(ncclGetUniqueId(&id) == NCCL_OK);
    pid_t ranks[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
        ranks[rank] = fork();
        if (ranks[rank] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            char text[8];
            snprintf(text, sizeof text, "%d", rank);
            setenv("RANK", text, 1);
            body(rank, id);
            _exit(0);
        }
    }
    bool well = true;
    for (int rank = 0; rank < RANKS; rank++) {
        int status;
        CHECK(waitpid(ranks[rank], &status, 0) == ranks[rank]);
        well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return well;
}

static struct comm *joined(int device, int rank, struct unique_id id) {
    struct comm *comm;
    start(device);
    CHECK(ncclCommInitRank(&comm, RANKS, id, rank) == NCCL_OK);
    return comm;
}

static void nothing_is_left(void) {
    int comms, windows, memories;
    emu_nccl_live(&comms, &windows, &memories);
    CHECK(comms == 0 && windows == 0 && memories == 0);
}

static void a_window_maps_the_peers(int rank, struct unique_id id) {
    struct comm *comm = joined(rank, rank, id);
    void *buffer;
    struct window *window = (struct window *)8;
    CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
    uint32_t own = 1000 + (uint32_t)rank;
    CHECK(cuMemcpyHtoD_v2((uint64_t)(uintptr_t)buffer, &own, sizeof own) == 0);
    CHECK(ncclCommWindowRegister(comm, buffer, SIZE, &window, WINDOW_SYMMETRIC) == NCCL_OK && window != (struct window *)8);
#if NCCL_VERSION >= 22902
    void *theirs;
    uint32_t value;
    CHECK(ncclGetPeerDevicePointer(window, 0, 1 - rank, &theirs) == NCCL_OK);
    CHECK(cuMemcpyDtoH_v2(&value, (uint64_t)(uintptr_t)theirs, sizeof value) == 0 && value == 1001 - (uint32_t)rank);
    CHECK(ncclGetPeerDevicePointer(window, SIZE, 0, &theirs) == NCCL_INVALID_ARGUMENT);
#endif
    CHECK(ncclCommWindowDeregister(comm, window) == NCCL_OK);
    CHECK(ncclCommWindowDeregister(comm, window) == NCCL_INVALID_ARGUMENT);
    CHECK(ncclMemFree(buffer) == NCCL_OK && ncclMemFree(buffer) == NCCL_INVALID_ARGUMENT);
    CHECK(ncclCommDestroy(comm) == NCCL_OK);
    nothing_is_left();
}

/* What a call leaves where a window is expected: 0 is null, 1 is what was there before, 2 is a window. */
static int answer_without_symmetry(struct comm *comm, void *buffer) {
    struct window *before = (struct window *)8, *window = before;
    CHECK(ncclCommWindowRegister(comm, buffer, SIZE, &window, WINDOW_SYMMETRIC) == NCCL_OK);
    if (window == NULL || window == before) {
        return window == before;
    }
    unsigned type;
    CHECK(cuPointerGetAttribute(&type, 2, (uint64_t)(uintptr_t)window) != 0);
    CHECK(ncclCommWindowDeregister(comm, window) == NCCL_OK);
    return 2;
}

static void no_symmetric_window_is_success(int rank, struct unique_id id) {
    setenv("NCCL_WIN_ENABLE", "0", 1);
    struct comm *comm = joined(rank, rank, id);
    void *buffer;
    CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
    CHECK(answer_without_symmetry(comm, buffer) == (NCCL_VERSION >= 22902 ? 0 : 2));
    setenv("NCCL_LOCAL_REGISTER", "0", 1);
    CHECK(answer_without_symmetry(comm, buffer) == (NCCL_VERSION >= 22800 && NCCL_VERSION < 22900));
    CHECK(ncclMemFree(buffer) == NCCL_OK && ncclCommDestroy(comm) == NCCL_OK);
    nothing_is_left();
}

static void one_device_is_refused(int rank, struct unique_id id) {
    struct comm *comm;
    start(0);
    CHECK(ncclCommInitRank(&comm, RANKS, id, rank) == NCCL_INVALID_USAGE);
    nothing_is_left();
}

static void one_device_is_allowed_from_2_30(int rank, struct unique_id id) {
    struct comm *comm;
    setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
    start(0);
    int result = ncclCommInitRank(&comm, RANKS, id, rank);
    CHECK(result == (NCCL_VERSION >= 23003 ? NCCL_OK : NCCL_INVALID_USAGE));
}

static void the_space_ends(int rank, struct unique_id id) {
    setenv("NCCL_WIN_STRIDE", "8388608", 1);
    struct comm *comm = joined(rank, rank, id);
    struct window *window;
    for (int i = 0; i < 3; i++) {
        void *buffer;
        CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
        CHECK(ncclCommWindowRegister(comm, buffer, SIZE, &window, WINDOW_SYMMETRIC) == (i < 2 ? NCCL_OK : NCCL_SYSTEM_ERROR));
    }
}

static int staying_away[2];

/* From a collective call, but alive, so that the other rank stays inside it, until that one says that it is done. */
static void stay_away(void) {
    char byte;
    CHECK(read(staying_away[0], &byte, 1) == 1);
}

static void *aborts_once_inside(void *comm) {
    while (emu_calls("cuMemExportToShareableHandle") == 0) {
        usleep(100);
    }
    CHECK(ncclCommAbort(comm) == NCCL_OK);
    return NULL;
}

static void an_abort_ends_the_wait(int rank, struct unique_id id) {
    struct comm *comm = joined(rank, rank, id);
    void *buffer;
    struct window *window;
    if (rank == 1) {
        stay_away();
        return;
    }
    CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, aborts_once_inside, comm) == 0);
    CHECK(ncclCommWindowRegister(comm, buffer, SIZE, &window, WINDOW_SYMMETRIC) == NCCL_INTERNAL_ERROR);
    pthread_join(thread, NULL);
    CHECK(write(staying_away[1], "e", 1) == 1);
}

#if NCCL_VERSION >= 22807
static void *revokes_once_inside(void *comm) {
    while (emu_calls("cuMemExportToShareableHandle") < 2) {
        usleep(100);
    }
    CHECK(ncclCommRevoke(comm, 0) == NCCL_OK);
    return NULL;
}

static void a_revoked_communicator_keeps_its_windows(int rank, struct unique_id id) {
    struct comm *comm = joined(rank, rank, id);
    void *first, *second;
    struct window *window, *other;
    CHECK(ncclMemAlloc(&first, SIZE) == NCCL_OK && ncclMemAlloc(&second, SIZE) == NCCL_OK);
    CHECK(ncclCommWindowRegister(comm, first, SIZE, &window, WINDOW_SYMMETRIC) == NCCL_OK);
    if (rank == 1) {
        stay_away();
        return;
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, revokes_once_inside, comm) == 0);
    CHECK(ncclCommWindowRegister(comm, second, SIZE, &other, WINDOW_SYMMETRIC) == NCCL_INTERNAL_ERROR);
    pthread_join(thread, NULL);
    CHECK(ncclCommRevoke(comm, 0) == NCCL_INVALID_ARGUMENT);
    CHECK(ncclCommWindowRegister(comm, second, SIZE, &other, WINDOW_SYMMETRIC) == NCCL_INVALID_USAGE);
#if NCCL_VERSION >= 22902
    uint32_t value;
    void *theirs;
    CHECK(ncclGetPeerDevicePointer(window, 0, 1, &theirs) == NCCL_OK);
    CHECK(cuMemcpyDtoH_v2(&value, (uint64_t)(uintptr_t)theirs, sizeof value) == 0);
#endif
    CHECK(write(staying_away[1], "e", 1) == 1);
    CHECK(ncclCommAbort(comm) == NCCL_OK);
    CHECK(ncclMemFree(first) == NCCL_OK && ncclMemFree(second) == NCCL_OK);
    nothing_is_left();
}
#endif

#if NCCL_VERSION >= 22902
static void several_teams_have_no_windows(int rank, struct unique_id id) {
    setenv("NCCL_LSA_TEAM_SIZE", "1", 1);
    struct comm *comm = joined(rank, rank, id);
    void *buffer;
    CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
    CHECK(answer_without_symmetry(comm, buffer) == 0);
}

static void a_network_gives_several_teams_windows_and_no_addresses(int rank, struct unique_id id) {
    setenv("NCCL_LSA_TEAM_SIZE", "1", 1);
    setenv("SYMMEM_EMULATION_NCCL_GIN", "1", 1);
    struct comm *comm = joined(rank, rank, id);
    void *buffer, *address = &buffer;
    struct window *window;
    CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
    CHECK(ncclCommWindowRegister(comm, buffer, SIZE, &window, WINDOW_SYMMETRIC) == NCCL_OK && window != NULL);
    CHECK(ncclGetPeerDevicePointer(window, 0, 1 - rank, &address) == NCCL_OK && address == NULL);
    CHECK(ncclGetPeerDevicePointer(window, 0, rank, &address) == NCCL_OK && address != NULL);
}
#endif

static void *registers(void *comm) {
    void *buffer;
    struct window *window;
    start(0);
    CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
    ncclCommWindowRegister(comm, buffer, SIZE, &window, WINDOW_SYMMETRIC);
    return NULL;
}

static void ended_well(int signal_number) {
    (void)signal_number;
    _exit(write(staying_away[1], "e", 1) != 1);
}

static void two_threads_end_the_process(int rank, struct unique_id id) {
    struct comm *comm = joined(rank, rank, id);
    if (rank == 1) {
        stay_away();
        return;
    }
    CHECK(freopen("/dev/null", "w", stderr) != NULL);
    signal(SIGABRT, ended_well);
    pthread_t first, second;
    CHECK(pthread_create(&first, NULL, registers, comm) == 0 && pthread_create(&second, NULL, registers, comm) == 0);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    _exit(1);
}

static void failures_come_on_demand(int rank, struct unique_id id) {
    CHECK(emu_nccl_fail("call=ncclMemAlloc,occurrence=2,rank=1,code=1") == 0);
    start(0);
    (void)id;
    void *buffer;
    CHECK(ncclMemAlloc(&buffer, SIZE) == NCCL_OK);
    CHECK(ncclMemAlloc(&buffer, SIZE) == (rank == 1 ? NCCL_CUDA_ERROR : NCCL_OK));
}

int main(void) {
    static const struct {
        const char *name;
        rank_body *body;
    } TESTS[] = {
        {"a window maps the peers", a_window_maps_the_peers},
        {"no symmetric window is success", no_symmetric_window_is_success},
        {"one device is refused", one_device_is_refused},
        {"one device is allowed from 2.30 on", one_device_is_allowed_from_2_30},
        {"the space ends", the_space_ends},
        {"an abort ends the wait", an_abort_ends_the_wait},
#if NCCL_VERSION >= 22807
        {"a revoked communicator keeps its windows", a_revoked_communicator_keeps_its_windows},
#endif
#if NCCL_VERSION >= 22902
        {"several teams have no windows", several_teams_have_no_windows},
        {"a network gives several teams windows and no addresses", a_network_gives_several_teams_windows_and_no_addresses},
#endif
        {"two threads end the process", two_threads_end_the_process},
        {"failures come on demand", failures_come_on_demand},
    };
    setenv("SYMMEM_EMULATION_DEVICES", "2", 1);
    CHECK(pipe(staying_away) == 0);
    alarm(60);
    int failed = 0;
    for (size_t i = 0; i < sizeof TESTS / sizeof TESTS[0]; i++) {
        if (!on_ranks(TESTS[i].body)) {
            fprintf(stderr, "emulated NCCL %d: failed: %s\n", NCCL_VERSION, TESTS[i].name);
            failed++;
        }
    }
    printf("emulated NCCL %d: %zu tests, %d failed\n", NCCL_VERSION, sizeof TESTS / sizeof TESTS[0], failed);
    return failed != 0;
}
