/* Stream memory operations: a stream stores a word, or parks until a word is what it waits for. */
#include "words.h"

enum {
    WAIT_32 = 1,
    WRITE_32 = 2,
    FLUSH_REMOTE_WRITES = 3,
    WAIT_64 = 4,
    WRITE_64 = 5,
    BARRIER = 6,
    MAX_BATCH = 256,
    WAIT_CONDITION = 3,
    WAIT_FLUSH = 1 << 30,
    WRITE_NO_BARRIER = 1,
};

static enum result check_word(uint64_t address, unsigned bits, bool stored) {
    size_t size = bits / 8;
    return address != 0 && address % size == 0 && range_is_known(address, size, SIDE_DEVICE, stored) ? OK : INVALID_VALUE;
}

static enum result check_wait(uint64_t address, unsigned bits, unsigned flags) {
    if ((flags & ~(unsigned)(WAIT_CONDITION | WAIT_FLUSH)) != 0) {
        return INVALID_VALUE;
    }
    /* As device attribute 98 says. */
    return (flags & WAIT_FLUSH) != 0 ? NOT_SUPPORTED : check_word(address, bits, false);
}

static enum result check_write(uint64_t address, unsigned bits, unsigned flags) {
    return (flags & ~(unsigned)WRITE_NO_BARRIER) != 0 ? INVALID_VALUE : check_word(address, bits, true);
}

static enum result word(const struct call *call, uint64_t stream_id, uint64_t address, uint64_t value, unsigned bits, unsigned flags,
        bool wait) {
    struct stream *stream;
    enum result result = stream_find(stream_id, call->context, &stream);
    if (result == OK) {
        result = wait ? check_wait(address, bits, flags) : check_write(address, bits, flags);
    }
    if (result == OK) {
        enum operation_type type = wait ? OPERATION_WAIT : OPERATION_WRITE;
        stream_submit(stream, &(struct operation){.type = type, .word = {address, value, bits, flags}});
    }
    return result;
}

static enum result check_operation(const struct memory_operation *operation) {
    switch (operation->operation) {
        case WAIT_32:
            return check_wait(operation->address, 32, operation->flags);
        case WAIT_64:
            return check_wait(operation->address, 64, operation->flags);
        case WRITE_32:
            return check_write(operation->address, 32, operation->flags);
        case WRITE_64:
            return check_write(operation->address, 64, operation->flags);
        case BARRIER:
            return operation->barrier_flags <= 1 ? OK : INVALID_VALUE;
        case FLUSH_REMOTE_WRITES:
            return NOT_SUPPORTED;
        default:
            return INVALID_VALUE;
    }
}

static void submit(struct stream *stream, const struct memory_operation *operation) {
    if (operation->operation == BARRIER) {
        stream_submit(stream, &(struct operation){.type = OPERATION_FENCE});
        return;
    }
    unsigned bits = operation->operation == WAIT_64 || operation->operation == WRITE_64 ? 64 : 32;
    bool wait = operation->operation == WAIT_32 || operation->operation == WAIT_64;
    stream_submit(stream, &(struct operation){
            .type = wait ? OPERATION_WAIT : OPERATION_WRITE,
            .word = {operation->address, operation->value, bits, operation->flags},
    });
}

enum result words_batch(const struct call *call, uint64_t stream_id, unsigned count, const struct memory_operation *operations,
        unsigned flags) {
    struct stream *stream;
    enum result result = stream_find(stream_id, call->context, &stream);
    if (result == OK && (flags != 0 || count == 0 || count > MAX_BATCH || operations == NULL)) {
        result = INVALID_VALUE;
    }
    for (unsigned i = 0; i < count && result == OK; i++) {
        result = check_operation(&operations[i]);
    }
    for (unsigned i = 0; i < count && result == OK; i++) {
        submit(stream, &operations[i]);
    }
    return result;
}

#define WORD(name, type, bits, wait)                                                                                 \
    EXPORT int name(uint64_t stream, uint64_t address, type value, unsigned flags) {                                 \
        CALL(NEEDS_CONTEXT, "stream=%#lx,address=%#lx,value=%lu,flags=%u", stream, address, (uint64_t)value, flags); \
        REPLY(word(&call, stream, address, value, bits, flags, wait));                                               \
    }

WORD(cuStreamWaitValue32, uint32_t, 32, true)
WORD(cuStreamWaitValue32_v2, uint32_t, 32, true)
WORD(cuStreamWaitValue64, uint64_t, 64, true)
WORD(cuStreamWaitValue64_v2, uint64_t, 64, true)
WORD(cuStreamWriteValue32, uint32_t, 32, false)
WORD(cuStreamWriteValue32_v2, uint32_t, 32, false)
WORD(cuStreamWriteValue64, uint64_t, 64, false)
WORD(cuStreamWriteValue64_v2, uint64_t, 64, false)

EXPORT int cuStreamBatchMemOp(uint64_t stream, unsigned count, const struct memory_operation *operations, unsigned flags) {
    CALL(NEEDS_CONTEXT, "stream=%#lx,count=%u,flags=%u", stream, count, flags);
    REPLY(words_batch(&call, stream, count, operations, flags));
}
