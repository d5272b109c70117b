/* Batched copies, and batched memory operations in their second interface: a driver of CUDA 12.0 has the first, but not these. */
#include "copies.h"
#include "structures.h"
#include "words.h"

/* Each copy's attributes are those of the last index that is not greater than its own; they only say when a source may be read. */
static bool attributes_are_good(const struct copy_attributes *attributes, const size_t *indices, size_t attribute_count, size_t count) {
    if (attributes == NULL || indices == NULL || attribute_count == 0 || attribute_count > count || indices[0] != 0) {
        return false;
    }
    for (size_t i = 0; i < attribute_count; i++) {
        if ((i > 0 && indices[i] <= indices[i - 1]) || indices[i] >= count || attributes[i].source_access_order < 1
                || attributes[i].source_access_order > 3) {
            return false;
        }
    }
    return true;
}

static enum result copy_all(struct stream *stream, const uint64_t *to, const uint64_t *from, const size_t *sizes, size_t count,
        size_t *failed) {
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == 0 || !range_is_known(to[i], sizes[i], SIDE_HOST, true)
                || !range_is_known(from[i], sizes[i], SIDE_HOST, false)) {
            if (failed != NULL) {
                *failed = i;
            }
            return INVALID_VALUE;
        }
    }
    enum result result = OK;
    for (size_t i = 0; i < count && result == OK; i++) {
        uint64_t sequence;
        result = copy_submit(stream, to[i], SIDE_HOST, from[i], SIDE_HOST, sizes[i], &sequence);
    }
    return result;
}

static enum result copy_batch(const struct call *call, const uint64_t *to, const uint64_t *from, const size_t *sizes, size_t count,
        const struct copy_attributes *attributes, const size_t *indices, size_t attribute_count, size_t *failed, uint64_t stream_id) {
    if (failed != NULL) {
        *failed = SIZE_MAX;
    }
    /* The driver refuses its default stream here. */
    if (stream_id == 0 || stream_id == 1 || to == NULL || from == NULL || sizes == NULL || count == 0
            || !attributes_are_good(attributes, indices, attribute_count, count)) {
        return INVALID_VALUE;
    }
    struct stream *stream;
    enum result found = stream_find(stream_id, call->context, &stream);
    return found == OK ? copy_all(stream, to, from, sizes, count, failed) : found;
}

/* The first interface, of CUDA 12.8, says which copy was wrong; the second, of 13.0, does not. */
EXPORT int cuMemcpyBatchAsync(uint64_t *to, uint64_t *from, size_t *sizes, size_t count, struct copy_attributes *attributes,
        size_t *indices, size_t attribute_count, size_t *failed, uint64_t stream) {
    CALL(NEEDS_CONTEXT, "count=%zu,attributes=%zu,stream=%#lx", count, attribute_count, stream);
    REPLY(copy_batch(&call, to, from, sizes, count, attributes, indices, attribute_count, failed, stream));
}

EXPORT int cuMemcpyBatchAsync_v2(uint64_t *to, uint64_t *from, size_t *sizes, size_t count, struct copy_attributes *attributes,
        size_t *indices, size_t attribute_count, uint64_t stream) {
    CALL(NEEDS_CONTEXT, "count=%zu,attributes=%zu,stream=%#lx", count, attribute_count, stream);
    REPLY(copy_batch(&call, to, from, sizes, count, attributes, indices, attribute_count, NULL, stream));
}

EXPORT int cuStreamBatchMemOp_v2(uint64_t stream, unsigned count, const struct memory_operation *operations, unsigned flags) {
    CALL(NEEDS_CONTEXT, "stream=%#lx,count=%u,flags=%u", stream, count, flags);
    REPLY(words_batch(&call, stream, count, operations, flags));
}
