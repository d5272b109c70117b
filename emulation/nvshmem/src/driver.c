#include <dlfcn.h>

#include "nvshmem.h"

struct driver driver;

bool driver_found(void) {
    static const char *const NAMES[] = {"cuCtxGetDevice", "cuCtxGetCurrent", "cuDeviceGetUuid_v2", "cuMemAddressReserve", "cuMemAddressFree",
        "cuMemCreate", "cuMemRelease", "cuMemRetainAllocationHandle", "cuMemExportToShareableHandle", "cuMemImportFromShareableHandle",
        "cuMemMap", "cuMemUnmap", "cuMemSetAccess", "cuMemsetD8_v2", "cuMemcpyDtoDAsync_v2", "cuStreamWriteValue64_v2",
        "cuStreamWaitValue64_v2", "cuStreamSynchronize"};
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == sizeof driver / sizeof(void *), "a name for each function, in order");
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void **functions = (void **)&driver;
    for (size_t i = 0; library != NULL && i < sizeof NAMES / sizeof NAMES[0]; i++) {
        functions[i] = dlsym(library, NAMES[i]);
        if (functions[i] == NULL) {
            fprintf(stderr, "emulated NVSHMEM: the driver lacks %s\n", NAMES[i]);
            return false;
        }
    }
    return library != NULL;
}
