#include <stdlib.h>

#include "call.h"

static struct context *contexts;
static unsigned primary_flags[MAX_DEVICES];

static _Thread_local uint64_t stack[MAX_STACK];
static _Thread_local int depth;

struct context *context_find(uint64_t id) {
    return object_find(OBJECT_CONTEXT, id);
}

struct context *context_current(void) {
    return depth > 0 ? context_find(stack[depth - 1]) : NULL;
}

enum result context_error(const struct context *context) {
    return context->dead ? CONTEXT_IS_DESTROYED : context->sticky;
}

void context_reference(struct context *context) {
    context->references++;
}

void context_release(struct context *context) {
    if (--context->references == 0) {
        free(context);
    }
}

void context_fail(struct context *context, enum result error) {
    if (context->sticky == OK) {
        context->sticky = error;
    }
    pthread_cond_broadcast(&emulation_progress);
}

static struct context *primary_of(int device) {
    for (struct context *context = contexts; context != NULL; context = context->next) {
        if (context->primary && context->device == device) {
            return context;
        }
    }
    return NULL;
}

static struct context *create(int device, unsigned flags, bool primary) {
    struct context *context = malloc(sizeof *context);
    *context = (struct context){.references = 1, .device = device, .flags = flags, .primary = primary, .next = contexts};
    context->id = object_add(OBJECT_CONTEXT, context);
    context->legacy = stream_new(context, 0, 0, true);
    contexts = context;
    live_add(CONTEXTS, 1);
    return context;
}

/* Takes everything with it that was made in the context; parked streams of it end. */
static void destroy(struct context *context) {
    for (struct context **link = &contexts; *link != NULL; link = &(*link)->next) {
        if (*link == context) {
            *link = context->next;
            break;
        }
    }
    context->dead = true;
    streams_of_dead_context(context);
    events_reclaim(context);
    plain_reclaim(context);
    object_remove(context->id);
    live_add(CONTEXTS, -1);
    context_release(context);
    pthread_cond_broadcast(&emulation_progress);
}

static enum result push(const struct context *context) {
    if (context == NULL) {
        return INVALID_CONTEXT;
    }
    if (depth == MAX_STACK) {
        return OUT_OF_MEMORY;
    }
    stack[depth++] = context->id;
    return OK;
}

static enum result create_current(uint64_t *id, unsigned flags, int ordinal) {
    if (id == NULL || device_of(ordinal) < 0 || depth == MAX_STACK) {
        return id == NULL ? INVALID_VALUE : depth == MAX_STACK ? OUT_OF_MEMORY : INVALID_DEVICE;
    }
    struct context *context = create(device_of(ordinal), flags, false);
    *id = context->id;
    return push(context);
}

EXPORT int cuDevicePrimaryCtxRetain(uint64_t *id, int ordinal) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    int device = device_of(ordinal);
    if (id == NULL || device < 0) {
        REPLY(id == NULL ? INVALID_VALUE : INVALID_DEVICE);
    }
    struct context *context = primary_of(device);
    if (context == NULL) {
        context = create(device, primary_flags[device], true);
    }
    context->retained++;
    *id = context->id;
    REPLY(OK);
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int ordinal) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    if (device_of(ordinal) < 0) {
        REPLY(INVALID_DEVICE);
    }
    struct context *context = primary_of(device_of(ordinal));
    if (context == NULL) {
        REPLY(INVALID_CONTEXT);
    }
    if (--context->retained == 0) {
        destroy(context);
    }
    REPLY(OK);
}

EXPORT int cuDevicePrimaryCtxReset_v2(int ordinal) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    if (device_of(ordinal) < 0) {
        REPLY(INVALID_DEVICE);
    }
    struct context *context = primary_of(device_of(ordinal));
    if (context != NULL) {
        destroy(context);
    }
    REPLY(OK);
}

EXPORT int cuDevicePrimaryCtxGetState(int ordinal, unsigned *flags, int *active) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    if (device_of(ordinal) < 0 || flags == NULL || active == NULL) {
        REPLY(device_of(ordinal) < 0 ? INVALID_DEVICE : INVALID_VALUE);
    }
    *flags = primary_flags[device_of(ordinal)];
    *active = primary_of(device_of(ordinal)) != NULL;
    REPLY(OK);
}

EXPORT int cuDevicePrimaryCtxSetFlags_v2(int ordinal, unsigned flags) {
    CALL(NEEDS_DRIVER, "device=%d,flags=%u", ordinal, flags);
    if (device_of(ordinal) < 0) {
        REPLY(INVALID_DEVICE);
    }
    primary_flags[device_of(ordinal)] = flags;
    REPLY(OK);
}

EXPORT int cuCtxCreate_v2(uint64_t *id, unsigned flags, int ordinal) {
    CALL(NEEDS_DRIVER, "flags=%u,device=%d", flags, ordinal);
    REPLY(create_current(id, flags, ordinal));
}

/* The second and third arguments limit the context to a part of the device, which is not emulated. */
EXPORT int cuCtxCreate_v3(uint64_t *id, const void *affinities, int count, unsigned flags, int ordinal) {
    CALL(NEEDS_DRIVER, "count=%d,flags=%u,device=%d", count, flags, ordinal);
    REPLY(affinities != NULL || count != 0 ? NOT_SUPPORTED : create_current(id, flags, ordinal));
}

EXPORT int cuCtxCreate_v4(uint64_t *id, const void *parameters, unsigned flags, int ordinal) {
    CALL(NEEDS_DRIVER, "flags=%u,device=%d", flags, ordinal);
    REPLY(parameters != NULL ? NOT_SUPPORTED : create_current(id, flags, ordinal));
}

EXPORT int cuCtxDestroy_v2(uint64_t id) {
    CALL(NEEDS_DRIVER, "context=%#lx", id);
    struct context *context = context_find(id);
    if (context == NULL || context->primary) {
        REPLY(INVALID_CONTEXT);
    }
    destroy(context);
    if (depth > 0 && stack[depth - 1] == id) {
        depth--;
    }
    REPLY(OK);
}

EXPORT int cuCtxPushCurrent_v2(uint64_t id) {
    CALL(NEEDS_DRIVER, "context=%#lx", id);
    REPLY(push(context_find(id)));
}

EXPORT int cuCtxPopCurrent_v2(uint64_t *id) {
    CALL(NEEDS_DRIVER, "%s", "");
    if (depth == 0) {
        REPLY(INVALID_CONTEXT);
    }
    depth--;
    if (id != NULL) {
        *id = stack[depth];
    }
    REPLY(OK);
}

/* Replaces the top of the stack; no context leaves the stack shorter. */
EXPORT int cuCtxSetCurrent(uint64_t id) {
    CALL(NEEDS_DRIVER, "context=%#lx", id);
    if (id != 0 && context_find(id) == NULL) {
        REPLY(INVALID_CONTEXT);
    }
    if (depth > 0) {
        depth--;
    }
    REPLY(id == 0 ? OK : push(context_find(id)));
}

EXPORT int cuCtxGetCurrent(uint64_t *id) {
    CALL(NEEDS_DRIVER, "%s", "");
    if (id == NULL) {
        REPLY(INVALID_VALUE);
    }
    *id = depth > 0 ? stack[depth - 1] : 0;
    REPLY(OK);
}

EXPORT int cuCtxGetDevice(int *ordinal) {
    CALL(NEEDS_CONTEXT, "%s", "");
    if (ordinal == NULL) {
        REPLY(INVALID_VALUE);
    }
    *ordinal = ordinal_of(call.context->device);
    REPLY(OK);
}

EXPORT int cuCtxGetFlags(unsigned *flags) {
    CALL(NEEDS_CONTEXT, "%s", "");
    if (flags == NULL) {
        REPLY(INVALID_VALUE);
    }
    *flags = call.context->flags;
    REPLY(OK);
}

EXPORT int cuCtxGetId(uint64_t id, uint64_t *unique) {
    CALL(NEEDS_DRIVER, "context=%#lx", id);
    struct context *context = id != 0 ? context_find(id) : context_current();
    if (context == NULL || unique == NULL) {
        REPLY(context == NULL ? INVALID_CONTEXT : INVALID_VALUE);
    }
    *unique = context->id;
    REPLY(OK);
}

EXPORT int cuCtxGetApiVersion(uint64_t id, unsigned *version) {
    CALL(NEEDS_DRIVER, "context=%#lx", id);
    struct context *context = id != 0 ? context_find(id) : context_current();
    if (context == NULL || version == NULL) {
        REPLY(context == NULL ? INVALID_CONTEXT : INVALID_VALUE);
    }
    *version = 3020;
    REPLY(OK);
}

static struct stream *busy_stream(struct context *context) {
    for (struct stream *stream = context->streams; stream != NULL; stream = stream->next) {
        if (stream->completed < stream->submitted) {
            return stream;
        }
    }
    return NULL;
}

static enum result wait_for_all(struct context *context) {
    context_reference(context);
    for (struct stream *stream; context_error(context) == OK && (stream = busy_stream(context)) != NULL;) {
        stream_wait(stream, stream->submitted);
    }
    enum result result = context_error(context);
    context_release(context);
    return result;
}

EXPORT int cuCtxSynchronize(void) {
    CALL(NEEDS_CONTEXT, "%s", "");
    REPLY(wait_for_all(call.context));
}

EXPORT int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CALL(NEEDS_CONTEXT, "%s", "");
    if (least != NULL) {
        *least = 0;
    }
    if (greatest != NULL) {
        *greatest = -5;
    }
    REPLY(OK);
}

EXPORT int cuCtxEnablePeerAccess(uint64_t id, unsigned flags) {
    CALL(NEEDS_CONTEXT, "peer=%#lx,flags=%u", id, flags);
    struct context *peer = context_find(id);
    if (peer == NULL || peer == call.context || flags != 0) {
        REPLY(flags != 0 ? INVALID_VALUE : INVALID_CONTEXT);
    }
    if (peer->device == call.context->device || !devices_are_peers()) {
        REPLY(PEER_ACCESS_UNSUPPORTED);
    }
    unsigned bit = 1u << peer->device;
    if ((call.context->peers & bit) != 0) {
        REPLY(PEER_ACCESS_ALREADY_ENABLED);
    }
    call.context->peers |= bit;
    REPLY(OK);
}

EXPORT int cuCtxDisablePeerAccess(uint64_t id) {
    CALL(NEEDS_CONTEXT, "peer=%#lx", id);
    struct context *peer = context_find(id);
    if (peer == NULL) {
        REPLY(INVALID_CONTEXT);
    }
    unsigned bit = 1u << peer->device;
    if ((call.context->peers & bit) == 0) {
        REPLY(PEER_ACCESS_NOT_ENABLED);
    }
    call.context->peers &= ~bit;
    REPLY(OK);
}
