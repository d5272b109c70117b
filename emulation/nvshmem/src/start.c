#include <dlfcn.h>
#include <string.h>

#include "nvshmem.h"

struct library library;

static void *plugin(void) {
    static void *handle;
    if (handle == NULL) {
        const char *file = getenv("NVSHMEM_BOOTSTRAP_UID_PLUGIN");
        file = file != NULL ? file : "nvshmem_bootstrap_uid.so.3";
        handle = dlopen(file, RTLD_NOW);
        if (handle == NULL) {
            fprintf(stderr, "emulated NVSHMEM: Bootstrap unable to load '%s'\n\t%s\n", file, dlerror());
        }
    }
    return handle;
}

EXPORT int nvshmemx_get_uniqueid(struct unique_id *id) {
    int failure = failure_of(__func__);
    if (failure != 0 || plugin() == NULL) {
        return failure != 0 ? failure : INTERNAL;
    }
    bootstrap_pre_init *pre_init = (bootstrap_pre_init *)dlsym(plugin(), "nvshmemi_bootstrap_plugin_pre_init");
    id->version = VERSION_OF(struct unique_id);
    return pre_init != NULL && pre_init(id->internal, BOOTSTRAP_VERSION) == 0 ? SUCCESS : INTERNAL;
}

EXPORT int nvshmemx_set_attr_uniqueid_args(const int rank, const int pes, const struct unique_id *id, struct init_attributes *attributes) {
    attributes->arguments.unique_id = (struct unique_id_arguments){VERSION_OF(struct unique_id_arguments), id, rank, pes};
    return SUCCESS;
}

static bool versions_are_right(const struct init_attributes *attributes) {
    return attributes->version == VERSION_OF(struct init_attributes) && attributes->arguments.version == VERSION_OF(struct init_arguments)
            && attributes->arguments.unique_id.version == VERSION_OF(struct unique_id_arguments)
            && attributes->arguments.unique_id.id->version == VERSION_OF(struct unique_id);
}

/* PEs that share a device are told by the device's identity; without an MPS server the library then is limited. */
static int status_by_devices(void) {
    uint8_t own[16], all[BOOTSTRAP_MAX_PES][16];
    if (driver.cuDeviceGetUuid(own, library.device) != 0) {
        return NOT_INITIALIZED;
    }
    library.bootstrap.allgather(&library.bootstrap, own, all, sizeof own);
    for (int a = 0; a < library.bootstrap.pes; a++) {
        for (int b = 0; b < a; b++) {
            if (memcmp(all[a], all[b], sizeof own) == 0) {
                return setting("MPS") != NULL ? FULL_MPG : LIMITED_MPG;
            }
        }
    }
    return INITIALIZED;
}

static int start(const struct init_attributes *attributes) {
    if (!driver_found()) {
        fprintf(stderr, "emulated NVSHMEM: no libcuda.so.1\n");
        return INTERNAL;
    }
    if (driver.cuCtxGetDevice(&library.device) != 0 || driver.cuCtxGetCurrent(&library.context) != 0) {
        fprintf(stderr, "emulated NVSHMEM: GPU not selected, no context is current\n");
        return INTERNAL;
    }
    bootstrap_init *init = plugin() != NULL ? (bootstrap_init *)dlsym(plugin(), "nvshmemi_bootstrap_plugin_init") : NULL;
    const struct unique_id_arguments *arguments = &attributes->arguments.unique_id;
    struct bootstrap_arguments where = {arguments->id->internal, arguments->rank, arguments->pes};
    if (init == NULL || init(&where, &library.bootstrap, BOOTSTRAP_VERSION) != 0) {
        fprintf(stderr, "emulated NVSHMEM: bootstrap failed\n");
        return INTERNAL;
    }
    library.status = BOOTSTRAPPED;
    library.unreachable = setting("UNREACHABLE") != NULL;
    int status = status_by_devices();
    if (status == NOT_INITIALIZED || !heap_open()) {
        return INTERNAL;
    }
    library.status = status;
    return SUCCESS;
}

EXPORT int nvshmemx_hostlib_init_attr(unsigned flags, struct init_attributes *attributes) {
    int failure = failure_of(__func__);
    if (failure != 0) {
        return failure;
    }
    if (library.over) {
        end_process(__func__, "initialised again after it was finalised");
    }
    if (library.uses > 0) {
        /* As the real one: counted, and whatever world was asked for is ignored. */
        library.uses++;
        return SUCCESS;
    }
    if (flags != INIT_WITH_UNIQUE_ID || attributes == NULL || !versions_are_right(attributes)) {
        fprintf(stderr, "emulated NVSHMEM: flags or versions of attributes are wrong\n");
        return INVALID_VALUE;
    }
    int status = start(attributes);
    library.uses = status == SUCCESS;
    return status;
}

EXPORT void nvshmemx_hostlib_finalize(void) {
    failure_of(__func__);
    require_initialized(__func__);
    if (--library.uses > 0) {
        return;
    }
    library.bootstrap.barrier(&library.bootstrap);
    heap_close();
    library.bootstrap.finalize(&library.bootstrap);
    library.status = NOT_INITIALIZED;
    library.over = true;
}

EXPORT int nvshmemx_init_status(void) {
    return library.status;
}

EXPORT int nvshmem_my_pe(void) {
    return library.bootstrap.rank;
}

EXPORT int nvshmem_n_pes(void) {
    return library.bootstrap.pes;
}

EXPORT void nvshmem_info_get_version(int *major, int *minor) {
    /* Of the OpenSHMEM specification. */
    *major = 1;
    *minor = 3;
}

EXPORT void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch) {
    const char *version = setting("VERSION");
    if (version == NULL || sscanf(version, "%d.%d.%d", major, minor, patch) != 3) {
        *major = 3;
        *minor = 4;
        *patch = 5;
    }
}
