/*
 * What the parts of the emulated driver share.
 *
 * One lock guards every table. An exported function holds it from its first line to its last (see call.h); what can take long, a
 * copy, a parked wait or a user's callback, gives it up meanwhile. Whoever gives it up must have a reference on what it goes on
 * using: memory, streams, events and contexts are counted.
 */
#ifndef EMULATION_H
#define EMULATION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "results.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    MAX_DEVICES = 16,
    MAX_STACK = 64,
    MAX_TARGETS = MAX_DEVICES,
};

static const size_t GRANULARITY = 2u << 20;
static const size_t PAGE = 4096;

extern pthread_mutex_t emulation_lock;
/* Signalled whenever an operation of any stream ends. */
extern pthread_cond_t emulation_progress;

/* --- settings.c: every switch is an environment variable, read when it is asked for --- */
const char *setting(const char *name);
long setting_number(const char *name, long otherwise);

/* --- live.c: what is alive now, so that a leak has a name --- */
enum kind {
    CONTEXTS,
    STREAMS,
    EVENTS,
    HANDLES,
    MAPPINGS,
    RESERVATIONS,
    PLAIN_ALLOCATIONS,
    HOST_ALLOCATIONS,
    HOST_REGISTRATIONS,
    IPC_MAPPINGS,
    MULTICAST_OBJECTS,
    MULTICAST_BINDINGS,
    MEMORIES,
    RECLAIMED,
    KINDS,
};
void live_add(enum kind kind, int change);
int live_report(char *json, size_t size);

/* --- objects.c: handles are numbers that are never used again, so a stale one is always noticed --- */
enum object_type { OBJECT_CONTEXT, OBJECT_STREAM, OBJECT_EVENT, OBJECT_HANDLE };
uint64_t object_add(enum object_type type, void *object);
void *object_find(enum object_type type, uint64_t id);
void object_remove(uint64_t id);

/* --- devices.c: "device" is an index on the machine, "ordinal" its place in CUDA_VISIBLE_DEVICES --- */
/* Gives the device of an ordinal, or -1. */
int device_of(int ordinal);
/* Gives the ordinal of a device, or -1 if this process does not see it. */
int ordinal_of(int device);
size_t device_total_memory(void);
bool device_has_multicast(void);
bool devices_are_peers(void);

/* --- contexts.c --- */
struct context {
    uint64_t id;
    int references;
    int device;
    bool primary;
    int retained;
    unsigned flags;
    bool dead;
    /* The first error of an operation; nothing works in a context that has one. */
    enum result sticky;
    struct stream *legacy;
    struct stream *streams;
    unsigned peers;
    struct context *next;
};
struct context *context_current(void);
struct context *context_find(uint64_t id);
void context_reference(struct context *context);
void context_release(struct context *context);
void context_fail(struct context *context, enum result error);
enum result context_error(const struct context *context);

/* --- accounting.c: memory in use, by device and over all processes that share SYMMEM_EMULATION_DIR --- */
/* Charges memory to a device; key is the same in every process for the same memory. False if the device has not that much left. */
bool account_charge(int device, uint64_t key, size_t size, bool limited);
void account_discharge(int device, uint64_t key);
size_t account_used(int device);

/* --- process.c --- */
uint64_t process_start_time(pid_t pid);
bool process_lives(pid_t pid, uint64_t start_time);

/* --- memory.c: physical memory, which is a memfd, so processes really share it --- */
struct memory {
    int references;
    int fd;
    uint64_t inode;
    size_t size;
    int device;
    uint32_t handle_types;
    bool rdma;
    /* All of it, mapped for the emulation's own copies whatever the user may do at the user's addresses. */
    uint8_t *alias;
    struct memory *next;
};
enum result memory_create(size_t size, int device, uint32_t handle_types, bool rdma, bool plain, struct memory **memory);
/* Takes a descriptor of another process's memory; it stays the caller's. The same memory is the same structure. */
enum result memory_open(int fd, bool plain, struct memory **memory);
/* Opens a descriptor that another process keeps, if it still is what it was. */
enum result memory_open_of(pid_t pid, int fd, uint64_t inode, bool plain, struct memory **memory);
void memory_reference(struct memory *memory);
void memory_release(struct memory *memory);
int memory_internal_descriptors(void);
/* Whether a descriptor is a memfd of that name. */
bool is_memfd_named(int fd, const char *name);

/* --- handles.c: references to memory or to a multicast object --- */
struct handle {
    uint64_t id;
    /* How often the user has it; 0 for one that only mappings keep. */
    int owned;
    int mapped;
    struct memory *memory;
    struct multicast *multicast;
};
struct handle *handle_new(struct memory *memory, struct multicast *multicast);
struct handle *handle_find(uint64_t id);
void handle_settle(struct handle *handle);

/* --- addresses.c: reservations and mappings --- */
struct mapping {
    uint64_t address;
    size_t size;
    struct handle *handle;
    uint8_t access[MAX_DEVICES];
    struct mapping *next;
};
struct mapping *mapping_at(uint64_t address);
bool address_is_reserved(uint64_t address);

/* --- plain.c: cuMemAlloc, pinned and registered host memory, opened IPC handles --- */
enum plain_type { PLAIN_DEVICE, PLAIN_HOST, PLAIN_REGISTERED, PLAIN_IPC };
struct plain {
    enum plain_type type;
    uint64_t address;
    size_t size;
    unsigned flags;
    struct memory *memory;
    size_t memory_offset;
    struct context *context;
    struct plain *next;
};
struct plain *plain_at(uint64_t address);
void plain_reclaim(struct context *context);

/* --- multicast.c --- */
struct target {
    uint8_t *at;
    struct memory *memory;
};
enum result multicast_open(int fd, struct multicast **multicast);
void multicast_reference(struct multicast *multicast);
void multicast_release(struct multicast *multicast);
int multicast_descriptor(const struct multicast *multicast);
size_t multicast_size(const struct multicast *multicast);
bool multicast_exportable(const struct multicast *multicast);
/* Gives up the lock while devices are missing. */
enum result multicast_wait_complete(struct multicast *multicast);
/* Where a store at an offset goes: one place a device. Gives how many bytes on they all stay contiguous, 0 if unbound there. */
size_t multicast_targets(struct multicast *multicast, size_t offset, struct target *targets, int *count);
int multicast_internal_descriptors(void);

/* --- spans.c: from addresses to bytes --- */
enum side {
    SIDE_DEVICE, /* must be known to the driver */
    SIDE_HOST,   /* what the driver does not know is the host's */
};
/* Whether the driver knows all of a range, as it checks when work is submitted. */
bool range_is_known(uint64_t address, size_t size, enum side side, bool stored);
bool range_is_pageable(uint64_t address);
/* The bytes at an address that may be loaded by a device, with a reference on the memory, if any. 0 bytes: an illegal address. */
size_t span_load(uint64_t address, size_t size, enum side side, int device, struct target *from);
/* The same for stores, which may go to several places. */
size_t span_store(uint64_t address, size_t size, enum side side, int device, struct target *targets, int *count);
void targets_release(struct target *targets, int count);

/* --- streams.c and events.c --- */
struct event {
    uint64_t id;
    int references;
    unsigned flags;
    struct context *context;
    uint64_t submitted;
    uint64_t completed;
    uint64_t nanos;
};

struct stream {
    uint64_t id;
    int references;
    struct context *context;
    unsigned flags;
    int priority;
    bool legacy;
    bool destroyed;
    bool has_worker;
    /* The thread that calls it stream 2, for a stream that is a thread's own. */
    bool of_thread;
    pthread_t owner;
    struct operation *head;
    struct operation **tail;
    uint64_t submitted;
    uint64_t completed;
    pthread_cond_t work;
    struct stream *next;
};
/* Streams 0 and 1 are the context's legacy stream, 2 the calling thread's own. */
enum result stream_find(uint64_t id, struct context *current, struct stream **stream);
struct stream *stream_new(struct context *context, unsigned flags, int priority, bool legacy);
void stream_reference(struct stream *stream);
void stream_release(struct stream *stream);
void streams_of_dead_context(struct context *context);
enum result stream_wait(struct stream *stream, uint64_t until);
void event_reference(struct event *event);
void event_release(struct event *event);
void events_reclaim(struct context *context);
uint64_t now_nanos(void);

/* --- operations.c: what a stream does --- */
enum operation_type {
    OPERATION_COPY,
    OPERATION_FILL,
    OPERATION_WRITE,
    OPERATION_WAIT,
    OPERATION_FENCE,
    OPERATION_RECORD,
    OPERATION_WAIT_EVENT,
    OPERATION_WAIT_STREAM,
    OPERATION_CALL,
};

struct operation {
    enum operation_type type;
    struct operation *next;
    union {
        struct {
            uint64_t to, from;
            size_t size;
            enum side to_side, from_side;
            void *snapshot;
        } copy;
        struct {
            uint64_t to;
            uint32_t value;
            unsigned element;
            size_t pitch, width, height;
        } fill;
        struct {
            uint64_t address, value;
            unsigned bits, flags;
        } word;
        struct {
            struct event *event;
            uint64_t sequence;
        } event;
        struct {
            struct stream *stream;
            uint64_t sequence;
        } stream;
        struct {
            void (*function)(void *);
            void (*stream_function)(uint64_t, int, void *);
            void *data;
        } call;
    };
};
/* Takes a copy of the operation; gives its sequence number in the stream. */
uint64_t stream_submit(struct stream *stream, const struct operation *operation);
/* Runs in the stream's thread, under the lock, which it may give up for a while. */
enum result operation_run(struct stream *stream, struct operation *operation);
void operation_discard(struct operation *operation);

#endif
