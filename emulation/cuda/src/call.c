#include "call.h"

#include <stdarg.h>
#include <unistd.h>

pthread_mutex_t emulation_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t emulation_progress = PTHREAD_COND_INITIALIZER;

static struct call_site *sites;
static pid_t ready_in;
static FILE *trace;

static void open_trace(void) {
    static bool asked;
    const char *prefix = asked ? NULL : setting("TRACE");
    asked = true;
    if (prefix != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d.log", prefix, (int)getpid());
        trace = fopen(path, "we");
        if (trace != NULL) {
            /* A process that is killed has written what it called. */
            setvbuf(trace, NULL, _IOLBF, 0);
        }
    }
}

void call_driver_is_ready(void) {
    ready_in = getpid();
}

const struct call_site *call_sites(void) {
    return sites;
}

static enum result check_needs(struct call *call, enum needs needs) {
    /* As with the real driver, a child of fork() does not inherit it. */
    if (needs != NEEDS_NOTHING && ready_in != getpid()) {
        return NOT_INITIALIZED;
    }
    if (needs == NEEDS_CONTEXT) {
        call->context = context_current();
        return call->context == NULL ? INVALID_CONTEXT : context_error(call->context);
    }
    return OK;
}

enum result call_begin(struct call *call, enum needs needs, const char *format, ...) {
    pthread_mutex_lock(&emulation_lock);
    open_trace();
    if (call->site->calls++ == 0) {
        call->site->next = sites;
        sites = call->site;
    }
    if (trace != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(call->arguments, sizeof call->arguments, format, arguments);
        va_end(arguments);
    }
    enum result failure = failure_of(call->site->name);
    return failure != OK ? failure : check_needs(call, needs);
}

int call_end(const struct call *call, enum result result) {
    if (trace != NULL) {
        fprintf(trace, "%s(%s) = %d\n", call->site->name, call->arguments, (int)result);
    }
    pthread_mutex_unlock(&emulation_lock);
    return (int)result;
}
