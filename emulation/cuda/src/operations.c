#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emulation.h"

enum { WAIT_GEQ = 0, WAIT_EQ = 1, WAIT_AND = 2, WAIT_NOR = 3, WAIT_CONDITION = 3, SPINS = 100, LARGE_BYTES = 1 << 20 };

/* Words of shared memory are waited for in the kernel by the page they lie in, so this works between processes. */
static void futex_wait(void *word, uint32_t seen) {
    /* Not every store wakes: a copy over the word does not, so the wait is short. */
    struct timespec at_most = {.tv_nsec = 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &at_most, NULL, 0);
}

static void futex_wake(void *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Copies what is contiguous on both sides; gives how much, 0 at an illegal address. */
static size_t copy_part(int device, uint64_t to, enum side to_side, uint64_t from, enum side from_side, size_t size) {
    struct target source, targets[MAX_TARGETS];
    int count;
    size_t loaded = span_load(from, size, from_side, device, &source);
    if (loaded == 0) {
        return 0;
    }
    size_t length = span_store(to, loaded, to_side, device, targets, &count);
    if (length > 0) {
        pthread_mutex_unlock(&emulation_lock);
        for (int i = 0; i < count; i++) {
            memmove(targets[i].at, source.at, length);
        }
        pthread_mutex_lock(&emulation_lock);
        targets_release(targets, count);
    }
    targets_release(&source, 1);
    return length;
}

static enum result copy(int device, const struct operation *operation) {
    for (size_t done = 0; done < operation->copy.size;) {
        size_t length = copy_part(device, operation->copy.to + done, operation->copy.to_side, operation->copy.from + done,
                operation->copy.from_side, operation->copy.size - done);
        if (length == 0) {
            return ILLEGAL_ADDRESS;
        }
        done += length;
    }
    return OK;
}

/* Gives whole pages of a file back, which then read as zero: a large buffer that is cleared takes neither time nor memory. */
static bool clear_pages(uint8_t *at, size_t length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (page - (uintptr_t)at % page) % page;
    if (length < LARGE_BYTES) {
        return false;
    }
    size_t pages = (length - before) / page * page;
    if (madvise(at + before, pages, MADV_REMOVE) != 0) {
        return false;
    }
    memset(at, 0, before);
    memset(at + before + pages, 0, length - before - pages);
    return true;
}

static void fill_bytes(uint8_t *at, uint32_t value, unsigned element, size_t length) {
    if (value == 0 && clear_pages(at, length)) {
        return;
    }
    if (element == 1) {
        memset(at, (int)(value & 0xff), length);
        return;
    }
    for (size_t i = 0; i < length; i += element) {
        memcpy(at + i, &value, element);
    }
}

static enum result fill_row(int device, uint64_t to, uint32_t value, unsigned element, size_t size) {
    while (size > 0) {
        struct target targets[MAX_TARGETS];
        int count;
        size_t length = span_store(to, size, SIDE_DEVICE, device, targets, &count);
        if (length == 0) {
            return ILLEGAL_ADDRESS;
        }
        pthread_mutex_unlock(&emulation_lock);
        for (int i = 0; i < count; i++) {
            fill_bytes(targets[i].at, value, element, length);
        }
        pthread_mutex_lock(&emulation_lock);
        targets_release(targets, count);
        to += length;
        size -= length;
    }
    return OK;
}

static enum result fill(int device, const struct operation *operation) {
    for (size_t row = 0; row < operation->fill.height; row++) {
        enum result result = fill_row(device, operation->fill.to + row * operation->fill.pitch, operation->fill.value,
                operation->fill.element, operation->fill.width * operation->fill.element);
        if (result != OK) {
            return result;
        }
    }
    return OK;
}

/* A release: what the stream stored before is visible to whoever sees this word. */
static enum result write_word(int device, const struct operation *operation) {
    struct target targets[MAX_TARGETS];
    int count;
    size_t size = operation->word.bits / 8;
    size_t length = span_store(operation->word.address, size, SIDE_DEVICE, device, targets, &count);
    for (int i = 0; i < count && length == size; i++) {
        if (size == 8) {
            atomic_store_explicit((_Atomic uint64_t *)targets[i].at, operation->word.value, memory_order_release);
        } else {
            atomic_store_explicit((_Atomic uint32_t *)targets[i].at, (uint32_t)operation->word.value, memory_order_release);
        }
        futex_wake(targets[i].at);
    }
    if (length > 0) {
        targets_release(targets, count);
    }
    return length == size ? OK : ILLEGAL_ADDRESS;
}

/* The difference is cyclic, so a counter may wrap. */
static bool is_met(const struct operation *operation, uint64_t seen) {
    bool narrow = operation->word.bits == 32;
    uint64_t value = narrow ? (uint32_t)operation->word.value : operation->word.value;
    switch (operation->word.flags & WAIT_CONDITION) {
        case WAIT_GEQ:
            return narrow ? (int32_t)((uint32_t)seen - (uint32_t)value) >= 0 : (int64_t)(seen - value) >= 0;
        case WAIT_EQ:
            return seen == value;
        case WAIT_AND:
            return (seen & value) != 0;
        default:
            return narrow ? (uint32_t)~(seen | value) != 0 : ~(seen | value) != 0;
    }
}

static uint64_t load_word(uint8_t *at, unsigned bits) {
    return bits == 64 ? atomic_load_explicit((_Atomic uint64_t *)at, memory_order_acquire)
                      : atomic_load_explicit((_Atomic uint32_t *)at, memory_order_acquire);
}

static bool poll_word(uint8_t *at, const struct operation *operation) {
    uint64_t seen = 0;
    for (int spin = 0; spin < SPINS; spin++) {
        seen = load_word(at, operation->word.bits);
        if (is_met(operation, seen)) {
            return true;
        }
    }
    futex_wait(at, (uint32_t)seen);
    return is_met(operation, load_word(at, operation->word.bits));
}

/* Looks the address up again each time, so that unmapping under a parked wait is noticed as hardware would. */
static enum result wait_word(struct stream *stream, const struct operation *operation) {
    size_t size = operation->word.bits / 8;
    bool met = false;
    while (!met && context_error(stream->context) == OK) {
        struct target from;
        size_t length = span_load(operation->word.address, size, SIDE_DEVICE, stream->context->device, &from);
        if (length == 0) {
            return ILLEGAL_ADDRESS;
        }
        pthread_mutex_unlock(&emulation_lock);
        met = poll_word(from.at, operation);
        pthread_mutex_lock(&emulation_lock);
        targets_release(&from, 1);
    }
    return OK;
}

static void wait_event(struct stream *stream, const struct operation *operation) {
    while (operation->event.event->completed < operation->event.sequence && context_error(stream->context) == OK) {
        pthread_cond_wait(&emulation_progress, &emulation_lock);
    }
}

static void wait_stream(struct stream *stream, const struct operation *operation) {
    while (operation->stream.stream->completed < operation->stream.sequence && context_error(stream->context) == OK) {
        pthread_cond_wait(&emulation_progress, &emulation_lock);
    }
}

static void call_host(struct stream *stream, const struct operation *operation) {
    uint64_t id = stream->id;
    pthread_mutex_unlock(&emulation_lock);
    if (operation->call.function != NULL) {
        operation->call.function(operation->call.data);
    } else {
        operation->call.stream_function(id, OK, operation->call.data);
    }
    pthread_mutex_lock(&emulation_lock);
}

enum result operation_run(struct stream *stream, struct operation *operation) {
    int device = stream->context->device;
    switch (operation->type) {
        case OPERATION_COPY:
            return copy(device, operation);
        case OPERATION_FILL:
            return fill(device, operation);
        case OPERATION_WRITE:
            return write_word(device, operation);
        case OPERATION_WAIT:
            return wait_word(stream, operation);
        case OPERATION_FENCE:
            atomic_thread_fence(memory_order_seq_cst);
            return OK;
        case OPERATION_RECORD:
            operation->event.event->nanos = now_nanos();
            return OK;
        case OPERATION_WAIT_EVENT:
            wait_event(stream, operation);
            return OK;
        case OPERATION_WAIT_STREAM:
            wait_stream(stream, operation);
            return OK;
        case OPERATION_CALL:
            call_host(stream, operation);
            return OK;
    }
    return OK;
}

/* Also of an operation that was not run, since its context failed: nobody may wait for its event for ever. */
void operation_discard(struct operation *operation) {
    switch (operation->type) {
        case OPERATION_COPY:
            free(operation->copy.snapshot);
            break;
        case OPERATION_RECORD:
            if (operation->event.event->completed < operation->event.sequence) {
                operation->event.event->completed = operation->event.sequence;
            }
            event_release(operation->event.event);
            break;
        case OPERATION_WAIT_EVENT:
            event_release(operation->event.event);
            break;
        case OPERATION_WAIT_STREAM:
            stream_release(operation->stream.stream);
            break;
        default:
            break;
    }
}
