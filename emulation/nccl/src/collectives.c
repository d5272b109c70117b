#include "collectives.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../cuda/test/driver.h"

struct collectives {
    struct meeting *meeting;
    bool registered;
    /* Steps have numbers, for those of one communicator take turns, whatever the streams. */
    long submitted;
    atomic_long done;
};

struct step {
    struct collectives *all;
    long number;
};

struct collectives *collectives_over(struct meeting *meeting) {
    struct collectives *all = calloc(1, sizeof *all);
    all->meeting = meeting;
    return all;
}

/* Runs on a stream. After an abort it ends at once, and the copies behind it move what nobody asked for, as on hardware. */
static void arrive(void *data) {
    struct step *step = data;
    struct collectives *all = step->all;
    while (atomic_load(&all->done) != step->number) {
        usleep(50);
    }
    if (!meeting_is_aborted(all->meeting)) {
        meeting_stream_barrier(all->meeting);
    }
    atomic_fetch_add(&all->done, 1);
    free(step);
}

static int meet_on(struct collectives *all, uint64_t stream) {
    struct step *step = malloc(sizeof *step);
    *step = (struct step){all, all->submitted};
    if (cuLaunchHostFunc(stream, arrive, step) != 0) {
        free(step);
        return NCCL_CUDA_ERROR;
    }
    all->submitted++;
    return NCCL_OK;
}

/* Copies from and to memory that is not registered would block the caller. */
static int prepare(struct collectives *all) {
    size_t size = (size_t)meeting_ranks(all->meeting) * STAGING_BYTES;
    if (!all->registered && cuMemHostRegister_v2((uint64_t)(uintptr_t)meeting_staging(all->meeting, 0), size, 0) != 0) {
        return NCCL_CUDA_ERROR;
    }
    all->registered = true;
    return NCCL_OK;
}

static size_t piece(size_t size, size_t done) {
    return size - done < STAGING_BYTES ? size - done : STAGING_BYTES;
}

int collectives_broadcast(struct collectives *all, uint64_t source, uint64_t target, size_t size, int root, uint64_t stream) {
    bool is_root = meeting_rank(all->meeting) == root;
    int result = prepare(all);
    for (size_t at = 0; result == NCCL_OK && at < size; at += piece(size, at)) {
        size_t length = piece(size, at);
        void *staging = meeting_staging(all->meeting, root);
        if (is_root && cuMemcpyDtoHAsync_v2(staging, source + at, length, stream) != 0) {
            return NCCL_CUDA_ERROR;
        }
        result = meet_on(all, stream);
        if (result == NCCL_OK && !(is_root && source == target) && cuMemcpyHtoDAsync_v2(target + at, staging, length, stream) != 0) {
            return NCCL_CUDA_ERROR;
        }
        result = result == NCCL_OK ? meet_on(all, stream) : result;
    }
    return result;
}

int collectives_gather(struct collectives *all, uint64_t source, uint64_t target, size_t size, uint64_t stream) {
    int rank = meeting_rank(all->meeting), ranks = meeting_ranks(all->meeting);
    int result = prepare(all);
    for (size_t at = 0; result == NCCL_OK && at < size; at += piece(size, at)) {
        size_t length = piece(size, at);
        if (cuMemcpyDtoHAsync_v2(meeting_staging(all->meeting, rank), source + at, length, stream) != 0) {
            return NCCL_CUDA_ERROR;
        }
        result = meet_on(all, stream);
        for (int of = 0; result == NCCL_OK && of < ranks; of++) {
            if (cuMemcpyHtoDAsync_v2(target + (size_t)of * size + at, meeting_staging(all->meeting, of), length, stream) != 0) {
                return NCCL_CUDA_ERROR;
            }
        }
        result = result == NCCL_OK ? meet_on(all, stream) : result;
    }
    return result;
}

bool collectives_end(struct collectives *all) {
    for (int turn = 0; atomic_load(&all->done) != all->submitted; turn++) {
        if (turn == 10000) {
            return false;
        }
        usleep(500);
    }
    if (all->registered) {
        cuMemHostUnregister((uint64_t)(uintptr_t)meeting_staging(all->meeting, 0));
    }
    free(all);
    return true;
}
