/*
 * Between the JVM and NVSHMEM's host library, which is loaded when it is asked for and never linked: this compiles and loads where
 * there is none. The prototypes are this project's own. Functions are looked up one by one, so that a library that lacks one is an
 * answer and not the end of the process.
 */
#include <dlfcn.h>
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_org_symmem_nvshmem_NvshmemNative_##name

/* Layouts by NVSHMEM's ABI of versions 2.11 to 3; the sizes are part of the version numbers that the library checks. */
struct unique_id {
    int version;
    char internal[124];
};
struct unique_id_arguments {
    int version;
    struct unique_id *id;
    int rank, pes;
};
struct init_arguments {
    int version;
    struct unique_id_arguments unique_id;
    char content[96];
};
struct init_attributes {
    int version;
    void *mpi_communicator;
    struct init_arguments arguments;
};
_Static_assert(sizeof(struct unique_id) == 128 && sizeof(struct unique_id_arguments) == 24 && sizeof(struct init_arguments) == 128
                       && sizeof(struct init_attributes) == 144, "ABI");
#define VERSION_OF(type) ((1 << 16) + (int)sizeof(type))

enum { INIT_WITH_UNIQUE_ID = 1 << 3, TEAM_WORLD = 0 };

static struct {
    /* What everything needs. */
    int (*nvshmemx_get_uniqueid)(struct unique_id *);
    int (*nvshmemx_set_attr_uniqueid_args)(int, int, const struct unique_id *, struct init_attributes *);
    int (*nvshmemx_hostlib_init_attr)(unsigned, struct init_attributes *);
    void (*nvshmemx_hostlib_finalize)(void);
    int (*nvshmemx_init_status)(void);
    int (*nvshmem_my_pe)(void);
    int (*nvshmem_n_pes)(void);
    void *(*nvshmem_align)(size_t, size_t);
    void (*nvshmem_free)(void *);
    void *(*nvshmem_ptr)(const void *, int);
    void (*nvshmemx_putmem_on_stream)(void *, const void *, size_t, int, void *);
    void (*nvshmemx_getmem_on_stream)(void *, const void *, size_t, int, void *);
    void (*nvshmemx_quiet_on_stream)(void *);
    void (*nvshmemx_vendor_get_version_info)(int *, int *, int *);
    /* What newer libraries have. */
    void *(*nvshmemx_mc_ptr)(int32_t, const void *);
    void *(*nvshmemx_buffer_register_symmetric)(void *, size_t, int);
    int (*nvshmemx_buffer_unregister_symmetric)(void *, size_t);
} nvshmem;

static const char *const NAMES[] = {"nvshmemx_get_uniqueid", "nvshmemx_set_attr_uniqueid_args", "nvshmemx_hostlib_init_attr",
    "nvshmemx_hostlib_finalize", "nvshmemx_init_status", "nvshmem_my_pe", "nvshmem_n_pes", "nvshmem_align", "nvshmem_free", "nvshmem_ptr",
    "nvshmemx_putmem_on_stream", "nvshmemx_getmem_on_stream", "nvshmemx_quiet_on_stream", "nvshmemx_vendor_get_version_info",
    "nvshmemx_mc_ptr", "nvshmemx_buffer_register_symmetric", "nvshmemx_buffer_unregister_symmetric"};
enum { FUNCTIONS = sizeof NAMES / sizeof NAMES[0], NEEDED = 14 };
_Static_assert(FUNCTIONS == sizeof nvshmem / sizeof(void *), "a name for each function, in order");

/* What the library itself may end the process in, on the thread that did it. */
static _Thread_local const char *inside;
static char where[256];

/* exit() runs this on the thread that called it: the last word is ours, so nobody looks for a JVM that vanished. */
static void say_who_ended_the_process(void) {
    if (inside != NULL) {
        char message[768];
        int length = snprintf(message, sizeof message,
                "symmem: NVSHMEM has ended this process from inside %s (%s). What it printed above is the reason; symmem could not "
                "prevent it. Other ranks will find this one lost. [SM-E-NVSHMEM-2]\n", inside, where);
        if (write(STDERR_FILENO, message, (size_t)length) < 0) {
            return;
        }
    }
}

#define MAY_END_THE_PROCESS(function, ...) \
    inside = #function;                    \
    nvshmem.function(__VA_ARGS__);         \
    inside = NULL
#define MAY_END_THE_PROCESS_WITH(result, function, ...) \
    inside = #function;                                 \
    result = nvshmem.function(__VA_ARGS__);             \
    inside = NULL

NATIVE(jint, crossing)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    return FUNCTIONS;
}

/* Loads a library, by path or by the loader's choice. The loader's words if it cannot. */
NATIVE(jstring, open)(JNIEnv *env, jclass self, jstring file) {
    (void)self;
    const char *name = (*env)->GetStringUTFChars(env, file, NULL);
    if (name == NULL) {
        return NULL;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    const char *error = library == NULL ? dlerror() : NULL;
    (*env)->ReleaseStringUTFChars(env, file, name);
    if (library == NULL) {
        return (*env)->NewStringUTF(env, error != NULL ? error : "the loader gives no reason");
    }
    void **functions = (void **)&nvshmem;
    for (int i = 0; i < FUNCTIONS; i++) {
        functions[i] = dlsym(library, NAMES[i]);
    }
    static int registered;
    if (!registered) {
        registered = atexit(say_who_ended_the_process) == 0;
    }
    return NULL;
}

/* The file that the functions come from. */
NATIVE(jstring, file)(JNIEnv *env, jclass self) {
    (void)self;
    Dl_info info;
    for (int i = 0; i < FUNCTIONS; i++) {
        void *function = ((void **)&nvshmem)[i];
        if (function != NULL && dladdr(function, &info) != 0) {
            return (*env)->NewStringUTF(env, info.dli_fname);
        }
    }
    return NULL;
}

/* Names of needed functions that the library lacks, with blanks between. */
NATIVE(jstring, missing)(JNIEnv *env, jclass self) {
    (void)self;
    char names[1024] = "";
    for (int i = 0; i < NEEDED; i++) {
        if (((void **)&nvshmem)[i] == NULL) {
            strcat(strcat(names, names[0] == '\0' ? "" : " "), NAMES[i]);
        }
    }
    return (*env)->NewStringUTF(env, names);
}

NATIVE(jboolean, hasMulticast)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    return nvshmem.nvshmemx_mc_ptr != NULL;
}

NATIVE(jboolean, hasRegistration)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    return nvshmem.nvshmemx_buffer_register_symmetric != NULL && nvshmem.nvshmemx_buffer_unregister_symmetric != NULL;
}

/* 3.4.5 is 30405. */
NATIVE(jint, version)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    int major = 0, minor = 0, patch = 0;
    nvshmem.nvshmemx_vendor_get_version_info(&major, &minor, &patch);
    return major * 10000 + minor * 100 + patch;
}

NATIVE(jint, setVariable)(JNIEnv *env, jclass self, jstring name, jstring value) {
    (void)self;
    const char *n = (*env)->GetStringUTFChars(env, name, NULL);
    const char *v = n != NULL ? (*env)->GetStringUTFChars(env, value, NULL) : NULL;
    /* What the user has set stays. */
    int status = v != NULL ? setenv(n, v, 0) : -1;
    if (v != NULL) {
        (*env)->ReleaseStringUTFChars(env, value, v);
    }
    if (n != NULL) {
        (*env)->ReleaseStringUTFChars(env, name, n);
    }
    return status;
}

/* Where this rank is, for the last word. */
NATIVE(void, describe)(JNIEnv *env, jclass self, jstring text) {
    (void)self;
    const char *words = (*env)->GetStringUTFChars(env, text, NULL);
    if (words != NULL) {
        snprintf(where, sizeof where, "%s", words);
        (*env)->ReleaseStringUTFChars(env, text, words);
    }
}

NATIVE(jint, uniqueId)(JNIEnv *env, jclass self, jbyteArray bytes) {
    (void)self;
    struct unique_id id = {.version = VERSION_OF(struct unique_id)};
    int status;
    MAY_END_THE_PROCESS_WITH(status, nvshmemx_get_uniqueid, &id);
    (*env)->SetByteArrayRegion(env, bytes, 0, sizeof id, (const jbyte *)&id);
    return status;
}

NATIVE(jint, start)(JNIEnv *env, jclass self, jint rank, jint pes, jbyteArray bytes) {
    (void)self;
    /* The library keeps the address of the id. */
    static struct unique_id id;
    (*env)->GetByteArrayRegion(env, bytes, 0, sizeof id, (jbyte *)&id);
    if ((*env)->ExceptionCheck(env)) {
        return -1;
    }
    struct init_attributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.version = VERSION_OF(struct init_attributes);
    attributes.arguments.version = VERSION_OF(struct init_arguments);
    attributes.arguments.unique_id.version = VERSION_OF(struct unique_id_arguments);
    int status;
    MAY_END_THE_PROCESS_WITH(status, nvshmemx_set_attr_uniqueid_args, rank, pes, &id, &attributes);
    if (status == 0) {
        MAY_END_THE_PROCESS_WITH(status, nvshmemx_hostlib_init_attr, INIT_WITH_UNIQUE_ID, &attributes);
    }
    return status;
}

NATIVE(void, finish)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    MAY_END_THE_PROCESS(nvshmemx_hostlib_finalize);
}

NATIVE(jint, status)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    return nvshmem.nvshmemx_init_status();
}

NATIVE(jint, pe)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    return nvshmem.nvshmem_my_pe();
}

NATIVE(jint, pes)(JNIEnv *env, jclass self) {
    (void)env, (void)self;
    return nvshmem.nvshmem_n_pes();
}

NATIVE(jlong, allocate)(JNIEnv *env, jclass self, jlong alignment, jlong size) {
    (void)env, (void)self;
    void *pointer;
    MAY_END_THE_PROCESS_WITH(pointer, nvshmem_align, (size_t)alignment, (size_t)size);
    return (jlong)pointer;
}

NATIVE(void, free)(JNIEnv *env, jclass self, jlong pointer) {
    (void)env, (void)self;
    MAY_END_THE_PROCESS(nvshmem_free, (void *)pointer);
}

NATIVE(jlong, address)(JNIEnv *env, jclass self, jlong own, jint pe) {
    (void)env, (void)self;
    return (jlong)nvshmem.nvshmem_ptr((const void *)own, pe);
}

NATIVE(jlong, multicast)(JNIEnv *env, jclass self, jlong own) {
    (void)env, (void)self;
    void *pointer;
    MAY_END_THE_PROCESS_WITH(pointer, nvshmemx_mc_ptr, TEAM_WORLD, (const void *)own);
    return (jlong)pointer;
}

NATIVE(jlong, register)(JNIEnv *env, jclass self, jlong buffer, jlong size) {
    (void)env, (void)self;
    void *pointer;
    MAY_END_THE_PROCESS_WITH(pointer, nvshmemx_buffer_register_symmetric, (void *)buffer, (size_t)size, 0);
    return (jlong)pointer;
}

NATIVE(jint, unregister)(JNIEnv *env, jclass self, jlong symmetric, jlong size) {
    (void)env, (void)self;
    int status;
    MAY_END_THE_PROCESS_WITH(status, nvshmemx_buffer_unregister_symmetric, (void *)symmetric, (size_t)size);
    return status;
}

NATIVE(void, put)(JNIEnv *env, jclass self, jlong target, jlong source, jlong size, jint pe, jlong stream) {
    (void)env, (void)self;
    MAY_END_THE_PROCESS(nvshmemx_putmem_on_stream, (void *)target, (const void *)source, (size_t)size, pe, (void *)stream);
}

NATIVE(void, get)(JNIEnv *env, jclass self, jlong target, jlong source, jlong size, jint pe, jlong stream) {
    (void)env, (void)self;
    MAY_END_THE_PROCESS(nvshmemx_getmem_on_stream, (void *)target, (const void *)source, (size_t)size, pe, (void *)stream);
}

NATIVE(void, quiet)(JNIEnv *env, jclass self, jlong stream) {
    (void)env, (void)self;
    MAY_END_THE_PROCESS(nvshmemx_quiet_on_stream, (void *)stream);
}
