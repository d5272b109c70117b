#include <stdlib.h>

#include "call.h"

enum { BLOCKING_SYNC = 1, DISABLE_TIMING = 2, INTERPROCESS = 4 };

struct event_link {
    struct event *event;
    struct event_link *next;
};

/* All that the user has. */
static struct event_link *events;

void event_reference(struct event *event) {
    event->references++;
}

void event_release(struct event *event) {
    if (--event->references == 0) {
        context_release(event->context);
        free(event);
    }
}

static void remove_link(struct event_link **link) {
    struct event_link *removed = *link;
    *link = removed->next;
    object_remove(removed->event->id);
    live_add(EVENTS, -1);
    event_release(removed->event);
    free(removed);
}

void events_reclaim(struct context *context) {
    for (struct event_link **link = &events; *link != NULL;) {
        if ((*link)->event->context == context) {
            live_add(RECLAIMED, 1);
            remove_link(link);
        } else {
            link = &(*link)->next;
        }
    }
}

static struct event *find(uint64_t id) {
    return object_find(OBJECT_EVENT, id);
}

static enum result create(struct context *context, uint64_t *id, unsigned flags) {
    if (id == NULL || (flags & ~(unsigned)(BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS)) != 0) {
        return INVALID_VALUE;
    }
    if ((flags & INTERPROCESS) != 0) {
        return NOT_SUPPORTED;
    }
    struct event *event = malloc(sizeof *event);
    *event = (struct event){.references = 1, .flags = flags, .context = context};
    event->id = object_add(OBJECT_EVENT, event);
    context_reference(context);
    struct event_link *link = malloc(sizeof *link);
    *link = (struct event_link){event, events};
    events = link;
    live_add(EVENTS, 1);
    *id = event->id;
    return OK;
}

static enum result destroy(uint64_t id) {
    for (struct event_link **link = &events; *link != NULL; link = &(*link)->next) {
        if ((*link)->event->id == id) {
            remove_link(link);
            return OK;
        }
    }
    return INVALID_HANDLE;
}

static enum result record(struct context *current, uint64_t id, uint64_t stream_id) {
    struct event *event = find(id);
    struct stream *stream;
    enum result found = stream_find(stream_id, current, &stream);
    if (found != OK || event == NULL || stream->context != event->context) {
        return found != OK ? found : INVALID_HANDLE;
    }
    event->submitted++;
    event_reference(event);
    stream_submit(stream, &(struct operation){.type = OPERATION_RECORD, .event = {event, event->submitted}});
    return OK;
}

static enum result query(uint64_t id) {
    struct event *event = find(id);
    if (event == NULL) {
        return INVALID_HANDLE;
    }
    enum result error = context_error(event->context);
    return error != OK ? error : event->completed < event->submitted ? NOT_READY : OK;
}

static enum result synchronize(uint64_t id) {
    struct event *event = find(id);
    if (event == NULL) {
        return INVALID_HANDLE;
    }
    event_reference(event);
    uint64_t until = event->submitted;
    while (event->completed < until && context_error(event->context) == OK) {
        pthread_cond_wait(&emulation_progress, &emulation_lock);
    }
    enum result error = context_error(event->context);
    event_release(event);
    return error;
}

static enum result elapsed(float *milliseconds, uint64_t start_id, uint64_t end_id) {
    struct event *start = find(start_id);
    struct event *end = find(end_id);
    if (milliseconds == NULL) {
        return INVALID_VALUE;
    }
    if (start == NULL || end == NULL || start->submitted == 0 || end->submitted == 0
            || ((start->flags | end->flags) & DISABLE_TIMING) != 0) {
        return INVALID_HANDLE;
    }
    if (start->completed < start->submitted || end->completed < end->submitted) {
        return NOT_READY;
    }
    *milliseconds = (float)((double)(int64_t)(end->nanos - start->nanos) / 1e6);
    return OK;
}

/* Waits for the record that was the last one when this was called; an event that was never recorded holds nothing up. */
static enum result wait_in_stream(struct context *current, uint64_t stream_id, uint64_t id, unsigned flags) {
    struct event *event = find(id);
    struct stream *stream;
    enum result found = stream_find(stream_id, current, &stream);
    if (found != OK || event == NULL || flags > 1) {
        return found != OK ? found : event == NULL ? INVALID_HANDLE : INVALID_VALUE;
    }
    event_reference(event);
    stream_submit(stream, &(struct operation){.type = OPERATION_WAIT_EVENT, .event = {event, event->submitted}});
    return OK;
}

EXPORT int cuEventCreate(uint64_t *id, unsigned flags) {
    CALL(NEEDS_CONTEXT, "flags=%u", flags);
    REPLY(create(call.context, id, flags));
}

EXPORT int cuEventDestroy_v2(uint64_t id) {
    CALL(NEEDS_DRIVER, "event=%#lx", id);
    REPLY(destroy(id));
}

EXPORT int cuEventRecord(uint64_t id, uint64_t stream) {
    CALL(NEEDS_CONTEXT, "event=%#lx,stream=%#lx", id, stream);
    REPLY(record(call.context, id, stream));
}

EXPORT int cuEventRecordWithFlags(uint64_t id, uint64_t stream, unsigned flags) {
    CALL(NEEDS_CONTEXT, "event=%#lx,stream=%#lx,flags=%u", id, stream, flags);
    REPLY(flags > 1 ? INVALID_VALUE : record(call.context, id, stream));
}

EXPORT int cuEventQuery(uint64_t id) {
    CALL(NEEDS_DRIVER, "event=%#lx", id);
    REPLY(query(id));
}

EXPORT int cuEventSynchronize(uint64_t id) {
    CALL(NEEDS_DRIVER, "event=%#lx", id);
    REPLY(synchronize(id));
}

EXPORT int cuEventElapsedTime(float *milliseconds, uint64_t start, uint64_t end) {
    CALL(NEEDS_DRIVER, "start=%#lx,end=%#lx", start, end);
    REPLY(elapsed(milliseconds, start, end));
}

EXPORT int cuEventElapsedTime_v2(float *milliseconds, uint64_t start, uint64_t end) {
    CALL(NEEDS_DRIVER, "start=%#lx,end=%#lx", start, end);
    REPLY(elapsed(milliseconds, start, end));
}

EXPORT int cuStreamWaitEvent(uint64_t stream, uint64_t id, unsigned flags) {
    CALL(NEEDS_CONTEXT, "stream=%#lx,event=%#lx,flags=%u", stream, id, flags);
    REPLY(wait_in_stream(call.context, stream, id, flags));
}
