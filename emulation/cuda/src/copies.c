#include "copies.h"

#include <stdlib.h>
#include <string.h>

/*
 * A pageable source is read before the call returns, and a copy to a pageable target is over when it does: the driver documents
 * both, and a program that changes or reads such memory too early must fail here as there.
 */
enum result copy_submit(struct stream *stream, uint64_t to, enum side to_side, uint64_t from, enum side from_side, size_t size,
        uint64_t *sequence) {
    *sequence = 0;
    if (size == 0) {
        return OK;
    }
    if (to == 0 || from == 0 || !range_is_known(to, size, to_side, true) || !range_is_known(from, size, from_side, false)) {
        return INVALID_VALUE;
    }
    struct operation operation = {.type = OPERATION_COPY, .copy = {to, from, size, to_side, from_side, NULL}};
    if (range_is_pageable(from)) {
        operation.copy.snapshot = malloc(size);
        if (operation.copy.snapshot == NULL) {
            return OUT_OF_MEMORY;
        }
        memcpy(operation.copy.snapshot, (const void *)from, size);
        operation.copy.from = (uint64_t)operation.copy.snapshot;
    }
    *sequence = stream_submit(stream, &operation);
    return OK;
}

static enum result copy_async(const struct call *call, uint64_t stream_id, uint64_t to, enum side to_side, uint64_t from,
        enum side from_side, size_t size) {
    struct stream *stream;
    uint64_t sequence;
    enum result result = stream_find(stream_id, call->context, &stream);
    if (result == OK) {
        result = copy_submit(stream, to, to_side, from, from_side, size, &sequence);
    }
    return result == OK && range_is_pageable(to) ? stream_wait(stream, sequence) : result;
}

static enum result copy_now(const struct call *call, uint64_t to, enum side to_side, uint64_t from, enum side from_side, size_t size) {
    uint64_t sequence;
    enum result result = copy_submit(call->context->legacy, to, to_side, from, from_side, size, &sequence);
    return result == OK ? stream_wait(call->context->legacy, sequence) : result;
}

static enum result submit_fill(struct stream *stream, uint64_t to, uint32_t value, unsigned element, size_t pitch, size_t width,
        size_t height, uint64_t *sequence) {
    if (to % element != 0 || (height > 1 && (pitch % element != 0 || pitch < width * element))) {
        return INVALID_VALUE;
    }
    for (size_t row = 0; row < height; row++) {
        if (!range_is_known(to + row * pitch, width * element, SIDE_DEVICE, true)) {
            return INVALID_VALUE;
        }
    }
    *sequence = stream_submit(stream, &(struct operation){.type = OPERATION_FILL, .fill = {to, value, element, pitch, width, height}});
    return OK;
}

static enum result fill_async(const struct call *call, uint64_t stream_id, uint64_t to, uint32_t value, unsigned element, size_t pitch,
        size_t width, size_t height) {
    struct stream *stream;
    uint64_t sequence;
    enum result result = stream_find(stream_id, call->context, &stream);
    return result == OK ? submit_fill(stream, to, value, element, pitch, width, height, &sequence) : result;
}

static enum result fill_now(const struct call *call, uint64_t to, uint32_t value, unsigned element, size_t pitch, size_t width,
        size_t height) {
    uint64_t sequence;
    enum result result = submit_fill(call->context->legacy, to, value, element, pitch, width, height, &sequence);
    return result == OK ? stream_wait(call->context->legacy, sequence) : result;
}

#define COPY_NOW(name, to_side, from_side)                                                     \
    EXPORT int name(uint64_t to, uint64_t from, size_t size) {                                 \
        CALL(NEEDS_CONTEXT, "to=%#lx,from=%#lx,size=%zu", to, from, size);                     \
        REPLY(copy_now(&call, to, to_side, from, from_side, size));                            \
    }

#define COPY_ASYNC(name, to_side, from_side)                                                   \
    EXPORT int name(uint64_t to, uint64_t from, size_t size, uint64_t stream) {                \
        CALL(NEEDS_CONTEXT, "to=%#lx,from=%#lx,size=%zu,stream=%#lx", to, from, size, stream); \
        REPLY(copy_async(&call, stream, to, to_side, from, from_side, size));                  \
    }

COPY_NOW(cuMemcpy, SIDE_HOST, SIDE_HOST)
COPY_NOW(cuMemcpyHtoD_v2, SIDE_DEVICE, SIDE_HOST)
COPY_NOW(cuMemcpyDtoH_v2, SIDE_HOST, SIDE_DEVICE)
COPY_NOW(cuMemcpyDtoD_v2, SIDE_DEVICE, SIDE_DEVICE)
COPY_ASYNC(cuMemcpyAsync, SIDE_HOST, SIDE_HOST)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, SIDE_DEVICE, SIDE_HOST)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, SIDE_HOST, SIDE_DEVICE)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, SIDE_DEVICE, SIDE_DEVICE)

EXPORT int cuMemcpyPeer(uint64_t to, uint64_t to_context, uint64_t from, uint64_t from_context, size_t size) {
    CALL(NEEDS_CONTEXT, "to=%#lx,toContext=%#lx,from=%#lx,fromContext=%#lx,size=%zu", to, to_context, from, from_context, size);
    bool contexts = context_find(to_context) != NULL && context_find(from_context) != NULL;
    REPLY(contexts ? copy_now(&call, to, SIDE_DEVICE, from, SIDE_DEVICE, size) : INVALID_CONTEXT);
}

EXPORT int cuMemcpyPeerAsync(uint64_t to, uint64_t to_context, uint64_t from, uint64_t from_context, size_t size, uint64_t stream) {
    CALL(NEEDS_CONTEXT, "to=%#lx,toContext=%#lx,from=%#lx,fromContext=%#lx,size=%zu,stream=%#lx", to, to_context, from, from_context,
            size, stream);
    bool contexts = context_find(to_context) != NULL && context_find(from_context) != NULL;
    REPLY(contexts ? copy_async(&call, stream, to, SIDE_DEVICE, from, SIDE_DEVICE, size) : INVALID_CONTEXT);
}

#define FILL(bits, value_type)                                                                                    \
    EXPORT int cuMemsetD##bits##_v2(uint64_t to, value_type value, size_t count) {                                \
        CALL(NEEDS_CONTEXT, "to=%#lx,value=%u,count=%zu", to, (unsigned)value, count);                            \
        REPLY(fill_now(&call, to, value, sizeof value, 0, count, 1));                                             \
    }                                                                                                             \
    EXPORT int cuMemsetD##bits##Async(uint64_t to, value_type value, size_t count, uint64_t stream) {             \
        CALL(NEEDS_CONTEXT, "to=%#lx,value=%u,count=%zu,stream=%#lx", to, (unsigned)value, count, stream);        \
        REPLY(fill_async(&call, stream, to, value, sizeof value, 0, count, 1));                                   \
    }                                                                                                             \
    EXPORT int cuMemsetD2D##bits##_v2(uint64_t to, size_t pitch, value_type value, size_t width, size_t height) { \
        CALL(NEEDS_CONTEXT, "to=%#lx,pitch=%zu,value=%u,width=%zu,height=%zu", to, pitch, (unsigned)value, width, \
                height);                                                                                          \
        REPLY(fill_now(&call, to, value, sizeof value, pitch, width, height));                                    \
    }                                                                                                             \
    EXPORT int cuMemsetD2D##bits##Async(uint64_t to, size_t pitch, value_type value, size_t width, size_t height, \
            uint64_t stream) {                                                                                    \
        CALL(NEEDS_CONTEXT, "to=%#lx,pitch=%zu,value=%u,width=%zu,height=%zu,stream=%#lx", to, pitch,             \
                (unsigned)value, width, height, stream);                                                          \
        REPLY(fill_async(&call, stream, to, value, sizeof value, pitch, width, height));                          \
    }

FILL(8, uint8_t)
FILL(16, uint16_t)
FILL(32, uint32_t)
