#include "nvshmem.h"

EXPORT void *nvshmem_ptr(const void *pointer, int pe) {
    if (pe < 0 || pe >= library.bootstrap.pes || (library.unreachable && pe != library.bootstrap.rank)) {
        return NULL;
    }
    return (void *)address_at((uint64_t)pointer, pe);
}
