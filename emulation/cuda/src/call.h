/*
 * The first and the last line of every exported function. CALL counts it, fails it on demand, checks what it needs and takes the
 * lock; REPLY gives the lock up and writes the line of the trace.
 */
#ifndef CALL_H
#define CALL_H

#include "emulation.h"

enum needs { NEEDS_NOTHING, NEEDS_DRIVER, NEEDS_CONTEXT };

struct call_site {
    const char *name;
    uint64_t calls;
    struct call_site *next;
};

struct call {
    struct call_site *site;
    /* The thread's current context, for a call that needs one. */
    struct context *context;
    char arguments[256];
};

enum result call_begin(struct call *call, enum needs needs, const char *format, ...) __attribute__((format(printf, 3, 4)));
int call_end(const struct call *call, enum result result);

#define CALL(needs, ...)                                       \
    static struct call_site call_site = {.name = __func__};    \
    struct call call;                                          \
    call.site = &call_site;                                    \
    call.context = NULL;                                       \
    call.arguments[0] = '\0';                                  \
    enum result refused = call_begin(&call, needs, __VA_ARGS__); \
    if (refused != OK) {                                       \
        return call_end(&call, refused);                       \
    }

#define REPLY(result) return call_end(&call, (result))

/* Marks the driver initialised in this process. */
void call_driver_is_ready(void);
/* The sites of all functions that were called, newest first. */
const struct call_site *call_sites(void);

/* --- failure.c --- */
/* What a call is to answer instead of doing its work, or OK. */
enum result failure_of(const char *call);
/* Whether SYMMEM_EMULATION_MISSING hides a name from cuGetProcAddress. */
bool symbol_is_hidden(const char *name);
/* Whether a pattern names a function, with or without its _v suffix. */
bool names_call(const char *pattern, size_t length, const char *call);

#endif
