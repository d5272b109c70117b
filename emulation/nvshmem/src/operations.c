/* Operations on streams, and those that the real library refuses by ending the process. */
#include "nvshmem.h"

static uint64_t remote(const char *call, const void *pointer, int pe) {
    require_initialized(call);
    uint64_t address = pe >= 0 && pe < library.bootstrap.pes ? address_at((uint64_t)pointer, pe) : 0;
    if (address == 0) {
        end_process(call, "the address is not in the symmetric heap, or the PE is none");
    }
    return address;
}

EXPORT void nvshmemx_putmem_on_stream(void *target, const void *source, size_t size, int pe, uint64_t stream) {
    if (driver.cuMemcpyDtoDAsync_v2(remote(__func__, target, pe), (uint64_t)source, size, stream) != 0) {
        end_process(__func__, "aborting due to error in process_channel_dma");
    }
}

EXPORT void nvshmemx_getmem_on_stream(void *target, const void *source, size_t size, int pe, uint64_t stream) {
    if (driver.cuMemcpyDtoDAsync_v2((uint64_t)target, remote(__func__, source, pe), size, stream) != 0) {
        end_process(__func__, "aborting due to error in process_channel_dma");
    }
}

EXPORT void nvshmemx_quiet_on_stream(uint64_t stream) {
    (void)stream;
    require_initialized(__func__);
}

EXPORT void nvshmemx_signal_op_on_stream(uint64_t *word, uint64_t value, int operation, int pe, uint64_t stream) {
    if (operation != SIGNAL_SET) {
        require_not_limited(__func__);
        end_process(__func__, "only SET is emulated");
    }
    if (driver.cuStreamWriteValue64_v2(stream, remote(__func__, word, pe), value, 0) != 0) {
        end_process(__func__, "cuStreamWriteValue64 failed");
    }
}

EXPORT void nvshmemx_signal_wait_until_on_stream(uint64_t *word, int comparison, uint64_t value, uint64_t stream) {
    require_not_limited(__func__);
    if (comparison != COMPARE_GE || driver.cuStreamWaitValue64_v2(stream, (uint64_t)word, value, 0) != 0) {
        end_process(__func__, "cuStreamWaitValue64 failed, or a comparison that is not emulated");
    }
}

EXPORT void nvshmem_barrier_all(void) {
    require_initialized(__func__);
    library.bootstrap.barrier(&library.bootstrap);
}

EXPORT void nvshmemx_barrier_all_on_stream(uint64_t stream) {
    require_initialized(__func__);
    driver.cuStreamSynchronize(stream);
    library.bootstrap.barrier(&library.bootstrap);
}

EXPORT int nvshmemx_barrier_on_stream(int team, uint64_t stream) {
    (void)team;
    require_not_limited(__func__);
    nvshmemx_barrier_all_on_stream(stream);
    return SUCCESS;
}

EXPORT int nvshmem_team_split_strided(int parent, int start, int stride, int size, const void *configuration, long mask, int *team) {
    (void)parent, (void)start, (void)stride, (void)size, (void)configuration, (void)mask;
    require_not_limited(__func__);
    *team = -1;
    return NOT_SUPPORTED;
}
