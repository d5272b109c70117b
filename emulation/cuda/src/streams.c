#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "call.h"

enum {
    NON_BLOCKING = 1,
    LEGACY_STREAM = 1,
    THREAD_STREAM = 2,
    WORKER_STACK = 1 << 20,
};

uint64_t now_nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void stream_reference(struct stream *stream) {
    stream->references++;
}

void stream_release(struct stream *stream) {
    if (--stream->references == 0) {
        context_release(stream->context);
        pthread_cond_destroy(&stream->work);
        free(stream);
    }
}

struct stream *stream_new(struct context *context, unsigned flags, int priority, bool legacy) {
    struct stream *stream = malloc(sizeof *stream);
    *stream = (struct stream){
        .references = 1,
        .context = context,
        .flags = flags,
        .priority = priority,
        .legacy = legacy,
        .tail = &stream->head,
        .next = context->streams,
    };
    pthread_cond_init(&stream->work, NULL);
    context->streams = stream;
    context_reference(context);
    return stream;
}

static struct stream *stream_of_thread(struct context *context) {
    for (struct stream *stream = context->streams; stream != NULL; stream = stream->next) {
        if (stream->of_thread && pthread_equal(stream->owner, pthread_self())) {
            return stream;
        }
    }
    struct stream *stream = stream_new(context, 0, 0, false);
    stream->of_thread = true;
    stream->owner = pthread_self();
    return stream;
}

enum result stream_find(uint64_t id, struct context *current, struct stream **result) {
    struct stream *stream = id == 0 || id == LEGACY_STREAM ? current->legacy
            : id == THREAD_STREAM                          ? stream_of_thread(current)
                                                           : object_find(OBJECT_STREAM, id);
    if (stream == NULL) {
        return INVALID_HANDLE;
    }
    *result = stream;
    return context_error(stream->context);
}

static bool is_users(const struct stream *stream) {
    return stream->id != 0;
}

static void retire(struct stream *stream) {
    stream->destroyed = true;
    if (is_users(stream)) {
        object_remove(stream->id);
        live_add(STREAMS, -1);
    }
    pthread_cond_signal(&stream->work);
    stream_release(stream);
}

void streams_of_dead_context(struct context *context) {
    while (context->streams != NULL) {
        struct stream *stream = context->streams;
        context->streams = stream->next;
        live_add(RECLAIMED, is_users(stream));
        retire(stream);
    }
}

static void run_next(struct stream *stream) {
    struct operation *operation = stream->head;
    stream->head = operation->next;
    if (stream->head == NULL) {
        stream->tail = &stream->head;
    }
    if (context_error(stream->context) == OK) {
        enum result result = operation_run(stream, operation);
        if (result != OK) {
            context_fail(stream->context, result);
        }
    }
    operation_discard(operation);
    free(operation);
    stream->completed++;
    pthread_cond_broadcast(&emulation_progress);
}

static void *work(void *argument) {
    struct stream *stream = argument;
    pthread_mutex_lock(&emulation_lock);
    while (stream->head != NULL || !stream->destroyed) {
        if (stream->head != NULL) {
            run_next(stream);
        } else {
            pthread_cond_wait(&stream->work, &emulation_lock);
        }
    }
    stream_release(stream);
    pthread_mutex_unlock(&emulation_lock);
    return NULL;
}

/*
 * A detached thread, so that a parked stream does not keep the process. The host program's signals are not for it, but those that
 * an instruction raises must reach whoever handles them: a callback may run a virtual machine's code here.
 */
static bool start_worker(struct stream *stream) {
    static const int OF_INSTRUCTIONS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof OF_INSTRUCTIONS / sizeof OF_INSTRUCTIONS[0]; i++) {
        sigdelset(&blocked, OF_INSTRUCTIONS[i]);
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WORKER_STACK);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    int failure = pthread_create(&thread, &attributes, work, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failure == 0;
}

static void append(struct stream *stream, const struct operation *operation) {
    struct operation *own = malloc(sizeof *own);
    *own = *operation;
    own->next = NULL;
    *stream->tail = own;
    stream->tail = &own->next;
    stream->submitted++;
    if (!stream->has_worker) {
        stream_reference(stream);
        stream->has_worker = start_worker(stream);
        if (!stream->has_worker) {
            stream_release(stream);
            context_fail(stream->context, OUT_OF_MEMORY);
        }
    }
    pthread_cond_signal(&stream->work);
}

static void append_wait_for(struct stream *stream, struct stream *other) {
    if (other->completed < other->submitted) {
        stream_reference(other);
        append(stream, &(struct operation){.type = OPERATION_WAIT_STREAM, .stream = {other, other->submitted}});
    }
}

/* The legacy stream and the others of its context that are not made non-blocking wait for each other. */
uint64_t stream_submit(struct stream *stream, const struct operation *operation) {
    if (stream->legacy) {
        for (struct stream *other = stream->context->streams; other != NULL; other = other->next) {
            if (other != stream && (other->flags & NON_BLOCKING) == 0) {
                append_wait_for(stream, other);
            }
        }
    } else if ((stream->flags & NON_BLOCKING) == 0) {
        append_wait_for(stream, stream->context->legacy);
    }
    append(stream, operation);
    return stream->submitted;
}

enum result stream_wait(struct stream *stream, uint64_t until) {
    stream_reference(stream);
    while (stream->completed < until && context_error(stream->context) == OK) {
        pthread_cond_wait(&emulation_progress, &emulation_lock);
    }
    enum result result = context_error(stream->context);
    stream_release(stream);
    return result;
}

static enum result create(struct context *context, uint64_t *id, unsigned flags, int priority) {
    if (id == NULL || flags > NON_BLOCKING) {
        return INVALID_VALUE;
    }
    struct stream *stream = stream_new(context, flags, priority > 0 ? 0 : priority < -5 ? -5 : priority, false);
    stream->id = object_add(OBJECT_STREAM, stream);
    live_add(STREAMS, 1);
    *id = stream->id;
    return OK;
}

/* Work that was submitted before is still done; the stream's thread goes when it is. */
static enum result destroy(uint64_t id) {
    struct stream *stream = object_find(OBJECT_STREAM, id);
    if (stream == NULL) {
        return INVALID_HANDLE;
    }
    enum result error = context_error(stream->context);
    for (struct stream **link = &stream->context->streams; *link != NULL; link = &(*link)->next) {
        if (*link == stream) {
            *link = stream->next;
            break;
        }
    }
    retire(stream);
    return error;
}

EXPORT int cuStreamCreate(uint64_t *id, unsigned flags) {
    CALL(NEEDS_CONTEXT, "flags=%u", flags);
    REPLY(create(call.context, id, flags, 0));
}

EXPORT int cuStreamCreateWithPriority(uint64_t *id, unsigned flags, int priority) {
    CALL(NEEDS_CONTEXT, "flags=%u,priority=%d", flags, priority);
    REPLY(create(call.context, id, flags, priority));
}

EXPORT int cuStreamDestroy_v2(uint64_t id) {
    CALL(NEEDS_DRIVER, "stream=%#lx", id);
    REPLY(destroy(id));
}

EXPORT int cuStreamSynchronize(uint64_t id) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    struct stream *stream;
    enum result found = stream_find(id, call.context, &stream);
    REPLY(found != OK ? found : stream_wait(stream, stream->submitted));
}

EXPORT int cuStreamQuery(uint64_t id) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    struct stream *stream;
    enum result found = stream_find(id, call.context, &stream);
    REPLY(found != OK ? found : stream->completed < stream->submitted ? NOT_READY : OK);
}

static void get_priority(const struct stream *stream, void *out) {
    *(int *)out = stream->priority;
}

static void get_flags(const struct stream *stream, void *out) {
    *(unsigned *)out = stream->flags;
}

static void get_context(const struct stream *stream, void *out) {
    *(uint64_t *)out = stream->context->id;
}

static void get_device(const struct stream *stream, void *out) {
    *(int *)out = ordinal_of(stream->context->device);
}

static void get_id(const struct stream *stream, void *out) {
    *(uint64_t *)out = is_users(stream) ? stream->id : stream->legacy ? LEGACY_STREAM : THREAD_STREAM;
}

/* Graphs are not emulated, so no stream ever captures. */
static void get_no_capture(const struct stream *stream, void *out) {
    (void)stream;
    *(int *)out = 0;
}

static enum result ask(struct context *context, uint64_t id, void (*get)(const struct stream *, void *), void *out) {
    struct stream *stream;
    enum result found = stream_find(id, context, &stream);
    if (found == OK && out == NULL) {
        return INVALID_VALUE;
    }
    if (found == OK) {
        get(stream, out);
    }
    return found;
}

EXPORT int cuStreamGetPriority(uint64_t id, int *priority) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    REPLY(ask(call.context, id, get_priority, priority));
}

EXPORT int cuStreamGetFlags(uint64_t id, unsigned *flags) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    REPLY(ask(call.context, id, get_flags, flags));
}

EXPORT int cuStreamGetCtx(uint64_t id, uint64_t *context) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    REPLY(ask(call.context, id, get_context, context));
}

EXPORT int cuStreamGetDevice(uint64_t id, int *device) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    REPLY(ask(call.context, id, get_device, device));
}

EXPORT int cuStreamGetId(uint64_t id, uint64_t *unique) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    REPLY(ask(call.context, id, get_id, unique));
}

EXPORT int cuStreamIsCapturing(uint64_t id, int *status) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    REPLY(ask(call.context, id, get_no_capture, status));
}

static enum result submit(struct context *context, uint64_t id, const struct operation *operation) {
    struct stream *stream;
    enum result found = stream_find(id, context, &stream);
    if (found == OK) {
        stream_submit(stream, operation);
    }
    return found;
}

EXPORT int cuLaunchHostFunc(uint64_t id, void (*function)(void *), void *data) {
    CALL(NEEDS_CONTEXT, "stream=%#lx", id);
    REPLY(function == NULL ? INVALID_VALUE
                           : submit(call.context, id, &(struct operation){.type = OPERATION_CALL, .call = {function, NULL, data}}));
}

EXPORT int cuStreamAddCallback(uint64_t id, void (*function)(uint64_t, int, void *), void *data, unsigned flags) {
    CALL(NEEDS_CONTEXT, "stream=%#lx,flags=%u", id, flags);
    REPLY(function == NULL || flags != 0
            ? INVALID_VALUE
            : submit(call.context, id, &(struct operation){.type = OPERATION_CALL, .call = {NULL, function, data}}));
}
