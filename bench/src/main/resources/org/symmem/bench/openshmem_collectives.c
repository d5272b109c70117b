// Broadcast and fcollect of OpenSHMEM (1.4, as Open MPI 4 has it) back to back: what stands beside broadcast and allgather on host memory.
// Arguments: sizes in bytes, multiples of 8. Prints "name_SIZEB value us", a line each, on PE 0.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SYNCS = 2, ROUNDS = 7, WARM_UP = 2 };
static long sync_words[SYNCS][SHMEM_COLLECT_SYNC_SIZE > SHMEM_BCAST_SYNC_SIZE ? SHMEM_COLLECT_SYNC_SIZE : SHMEM_BCAST_SYNC_SIZE];

static double micros(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, size_t size, int calls, int gathers, void *target, const void *source) {
    double times[ROUNDS];
    int pes = shmem_n_pes();
    for (int round = 0; round < ROUNDS; round++) {
        shmem_barrier_all();
        double start = micros();
        for (int i = 0; i < calls; i++) {
            // Two sets of words by turns, as the standard allows without a barrier between; it leaves the root free to run ahead of a
            // broadcast, so that one is followed by a synchronisation, without which the data of a round is not told from the next.
            if (gathers) {
                shmem_fcollect64(target, source, size / 8, 0, 0, pes, sync_words[i % SYNCS]);
            } else {
                shmem_broadcast64(target, source, size / 8, 0, 0, 0, pes, sync_words[i % SYNCS]);
                shmem_sync_all();
            }
        }
        times[round] = (micros() - start) / calls;
    }
    qsort(times + WARM_UP, ROUNDS - WARM_UP, sizeof *times, by_value);
    if (shmem_my_pe() == 0) {
        printf("%s_%zuB %.3f us\n", name, size, times[WARM_UP + (ROUNDS - WARM_UP) / 2]);
    }
}

int main(int count, char **arguments) {
    size_t most = 8;
    for (int a = 1; a < count; a++) {
        size_t size = strtoull(arguments[a], NULL, 10);
        most = size > most ? size : most;
    }
    // OpenSHMEM's heap has 256 MiB in all unless more is asked for, before it starts.
    setenv("SMA_SYMMETRIC_SIZE", "1G", 0);
    setenv("SHMEM_SYMMETRIC_SIZE", "1G", 0);
    shmem_init();
    char *source = shmem_malloc(most);
    char *target = shmem_malloc(most * shmem_n_pes());
    if (source == NULL || target == NULL) {
        fprintf(stderr, "shmem_malloc failed\n");
        return 1;
    }
    memset(source, shmem_my_pe() + 1, most);
    for (int i = 0; i < SYNCS; i++) {
        for (size_t j = 0; j < sizeof sync_words[0] / sizeof(long); j++) {
            sync_words[i][j] = SHMEM_SYNC_VALUE;
        }
    }
    shmem_barrier_all();
    for (int a = 1; a < count; a++) {
        size_t size = strtoull(arguments[a], NULL, 10);
        int calls = size <= 4096 ? 4000 : size <= (1u << 20) ? 200 : 5;
        measure("broadcast", size, calls, 0, target, source);
        measure("allgather", size, calls, 1, target, source);
    }
    shmem_barrier_all();
    shmem_free(target);
    shmem_free(source);
    shmem_finalize();
    return 0;
}
