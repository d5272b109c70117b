#include <dlfcn.h>
#include <string.h>

#include "call.h"

enum { SYMBOL_FOUND = 0, SYMBOL_NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 };

/* Since which CUDA version a name means another function than before; others have meant their newest for longer than we care. */
static const struct {
    const char *function;
    int since;
} YOUNG[] = {
    {"cuMemcpyBatchAsync_v2", 13000},
    {"cuMemcpyBatchAsync", 12080},
    {"cuCtxCreate_v4", 13000},
    {"cuCtxCreate_v3", 11040},
    {"cuEventElapsedTime_v2", 12080},
    {"cuDeviceGetUuid_v2", 11040},
    {"cuStreamWaitValue32_v2", 12000},
    {"cuStreamWaitValue64_v2", 12000},
    {"cuStreamWriteValue32_v2", 12000},
    {"cuStreamWriteValue64_v2", 12000},
    {"cuStreamBatchMemOp_v2", 12000},
    {"cuGetProcAddress_v2", 12000},
    {"cuMulticastCreate", 12010},
    {"cuMulticastAddDevice", 12010},
    {"cuMulticastBindMem", 12010},
    {"cuMulticastBindAddr", 12010},
    {"cuMulticastUnbind", 12010},
    {"cuMulticastGetGranularity", 12010},
};

static int since(const char *function) {
    for (size_t i = 0; i < sizeof YOUNG / sizeof YOUNG[0]; i++) {
        if (strcmp(YOUNG[i].function, function) == 0) {
            return YOUNG[i].since;
        }
    }
    return 0;
}

/* Only our own symbols: the same name may be another library's too. */
static void *own_symbol(const char *name) {
    Dl_info self, found;
    void *function = NULL;
    if (dladdr((void *)&call_begin, &self) != 0) {
        void *library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) {
            function = dlsym(library, name);
            dlclose(library);
        }
        if (function != NULL && (dladdr(function, &found) == 0 || found.dli_fbase != self.dli_fbase)) {
            function = NULL;
        }
    }
    return function;
}

static enum result find(const char *name, void **function, int version, uint64_t flags, int *status) {
    if (name == NULL || function == NULL || flags > 3 || strlen(name) > 100 || version > 99999) {
        return INVALID_VALUE;
    }
    bool known = false;
    *function = NULL;
    for (int suffix = 4; suffix >= 1 && *function == NULL && !symbol_is_hidden(name); suffix--) {
        char full[112];
        snprintf(full, sizeof full, suffix > 1 ? "%s_v%d" : "%s", name, suffix);
        void *symbol = own_symbol(full);
        known |= symbol != NULL;
        if (symbol != NULL && since(full) <= version) {
            *function = symbol;
        }
    }
    if (status != NULL) {
        *status = *function != NULL ? SYMBOL_FOUND : known ? VERSION_NOT_SUFFICIENT : SYMBOL_NOT_FOUND;
    }
    return *function != NULL ? OK : NOT_FOUND;
}

EXPORT int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    CALL(NEEDS_NOTHING, "name=%s,version=%d,flags=%lu", name ? name : "NULL", version, flags);
    REPLY(find(name, function, version, flags, NULL));
}

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    CALL(NEEDS_NOTHING, "name=%s,version=%d,flags=%lu", name ? name : "NULL", version, flags);
    REPLY(find(name, function, version, flags, status));
}
