#include "check.h"

enum { NON_BLOCKING = 1, GEQ = 0, EQ = 1, AND = 2, NOR = 3 };

static uint64_t new_stream(unsigned flags) {
    uint64_t stream;
    CHECK_OK(cuStreamCreate(&stream, flags));
    return stream;
}

static uint64_t one_granule(void) {
    return mapped(created(0, GRANULE), GRANULE, 0);
}

static void a_parked_wait_holds_up_its_stream_only(void) {
    start(0);
    uint64_t address = one_granule(), parked = new_stream(NON_BLOCKING), other = new_stream(NON_BLOCKING), event;
    CHECK_OK(cuEventCreate(&event, 2));
    CHECK_OK(cuStreamWaitValue32_v2(parked, address, 5, GEQ));
    CHECK_OK(cuStreamWriteValue32_v2(parked, address + 64, 9, 0));
    CHECK_OK(cuEventRecord(event, parked));
    CHECK_OK(cuMemsetD32Async(address + 128, 7, 4, other));
    CHECK_OK(cuStreamSynchronize(other));
    CHECK_RESULT(NOT_READY, cuStreamQuery(parked));
    CHECK_RESULT(NOT_READY, cuEventQuery(event));
    uint32_t word = 1;
    CHECK_OK(cuMemcpyDtoH_v2(&word, address + 64, 4));
    CHECK(word == 0);
    CHECK_OK(cuStreamWriteValue32_v2(other, address, 5, 0));
    CHECK_OK(cuEventSynchronize(event));
    CHECK_OK(cuStreamQuery(parked));
    CHECK_OK(cuMemcpyDtoH_v2(&word, address + 64, 4));
    CHECK(word == 9);
    CHECK_OK(cuEventDestroy_v2(event));
    CHECK_RESULT(INVALID_HANDLE, cuEventQuery(event));
    CHECK_OK(cuStreamDestroy_v2(parked));
    CHECK_RESULT(INVALID_HANDLE, cuStreamQuery(parked));
    CHECK(live("streams") == 1 && live("events") == 0);
}

static void must_wait(uint64_t address, bool wide, uint64_t value, unsigned condition, uint64_t unmet, uint64_t met) {
    uint64_t stream = new_stream(NON_BLOCKING), other = new_stream(NON_BLOCKING);
    CHECK_OK(cuStreamWriteValue64_v2(other, address, unmet, 0));
    CHECK_OK(cuStreamSynchronize(other));
    CHECK_OK(wide ? cuStreamWaitValue64_v2(stream, address, value, condition)
                  : cuStreamWaitValue32_v2(stream, address, (uint32_t)value, condition));
    sleep_millis(3);
    CHECK_RESULT(NOT_READY, cuStreamQuery(stream));
    CHECK_OK(cuStreamWriteValue64_v2(other, address, met, 0));
    CHECK_OK(cuStreamSynchronize(stream));
    CHECK_OK(cuStreamDestroy_v2(stream));
    CHECK_OK(cuStreamDestroy_v2(other));
}

static void every_condition_waits(void) {
    start(0);
    uint64_t address = one_granule();
    must_wait(address, false, 5, GEQ, 4, 6);
    must_wait(address, false, 1, GEQ, 0xffffffff, 1);
    must_wait(address, true, 1, GEQ, UINT64_MAX, (uint64_t)1 << 40);
    must_wait(address, true, (uint64_t)1 << 40, GEQ, 1, (uint64_t)1 << 40);
    must_wait(address, false, 5, EQ, 6, 5);
    must_wait(address, true, ((uint64_t)1 << 40) + 5, EQ, 5, ((uint64_t)1 << 40) + 5);
    must_wait(address, false, 6, AND, 1, 4);
    must_wait(address, false, 0xfffffff0, NOR, 0xf, 0x7);
    CHECK_RESULT(INVALID_VALUE, cuStreamWaitValue32_v2(0, address + 2, 0, GEQ));
    CHECK_RESULT(INVALID_VALUE, cuStreamWaitValue64_v2(0, address + 4, 0, GEQ));
    CHECK_RESULT(INVALID_VALUE, cuStreamWaitValue32_v2(0, address, 0, 4));
    CHECK_RESULT(NOT_SUPPORTED, cuStreamWaitValue32_v2(0, address, 0, 1u << 30));
    CHECK_RESULT(INVALID_VALUE, cuStreamWriteValue32_v2(0, address + GRANULE, 0, 0));
}

static void a_batch_is_done_in_order_or_not_at_all(void) {
    start(0);
    uint64_t address = one_granule(), stream = new_stream(NON_BLOCKING), other = new_stream(NON_BLOCKING);
    struct memory_operation operations[] = {
        {.operation = 2, .address = address, .value = 0xffffffff00000001},
        {.operation = 6},
        {.operation = 4, .address = address + 8, .value = 3, .flags = EQ},
        {.operation = 5, .address = address + 16, .value = 4},
        {.operation = 3},
    };
    CHECK_RESULT(NOT_SUPPORTED, cuStreamBatchMemOp_v2(stream, 5, operations, 0));
    CHECK_RESULT(INVALID_VALUE, cuStreamBatchMemOp_v2(stream, 257, operations, 0));
    CHECK_RESULT(INVALID_VALUE, cuStreamBatchMemOp_v2(stream, 4, operations, 1));
    CHECK_OK(cuStreamSynchronize(stream));
    CHECK(*(volatile uint64_t *)address == 0);
    CHECK_OK(cuStreamBatchMemOp_v2(stream, 4, operations, 0));
    sleep_millis(3);
    CHECK(*(volatile uint64_t *)address == 1 && *(volatile uint64_t *)(address + 16) == 0);
    CHECK_OK(cuStreamWriteValue64_v2(other, address + 8, 3, 0));
    CHECK_OK(cuStreamSynchronize(stream));
    CHECK(*(volatile uint64_t *)(address + 16) == 4);
}

static void the_legacy_stream_waits_for_blocking_streams(void) {
    start(0);
    uint64_t address = one_granule(), blocking = new_stream(0), free_running = new_stream(NON_BLOCKING), event;
    CHECK_OK(cuStreamWaitValue32_v2(blocking, address, 1, GEQ));
    CHECK_OK(cuStreamWriteValue32_v2(0, address + 4, 2, 0));
    CHECK_OK(cuEventCreate(&event, 0));
    CHECK_OK(cuEventRecord(event, 0));
    CHECK_OK(cuStreamWriteValue32_v2(free_running, address + 8, 3, 0));
    CHECK_OK(cuStreamSynchronize(free_running));
    CHECK_RESULT(NOT_READY, cuEventQuery(event));
    CHECK(*(volatile uint32_t *)(address + 4) == 0 && *(volatile uint32_t *)(address + 8) == 3);
    CHECK_OK(cuStreamWriteValue32_v2(free_running, address, 1, 0));
    CHECK_OK(cuCtxSynchronize());
    CHECK(*(volatile uint32_t *)(address + 4) == 2);
    CHECK_OK(cuStreamWriteValue32_v2(2, address + 12, 4, 0));
    CHECK_OK(cuStreamSynchronize(2));
    CHECK(*(volatile uint32_t *)(address + 12) == 4);
}

static void count_call(void *data) {
    __atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
}

static void events_order_streams(void) {
    start(0);
    int calls = 0;
    float millis;
    uint64_t address = one_granule(), first = new_stream(NON_BLOCKING), second = new_stream(NON_BLOCKING), begin, end, untimed;
    CHECK_OK(cuEventCreate(&begin, 0));
    CHECK_OK(cuEventCreate(&end, 0));
    CHECK_OK(cuEventCreate(&untimed, 2));
    CHECK_OK(cuEventQuery(begin));
    CHECK_RESULT(INVALID_HANDLE, cuEventElapsedTime(&millis, begin, end));
    CHECK_OK(cuEventRecord(begin, first));
    CHECK_OK(cuStreamWaitValue32_v2(first, address, 1, GEQ));
    CHECK_OK(cuEventRecord(end, first));
    CHECK_OK(cuStreamWaitEvent(second, end, 0));
    CHECK_OK(cuLaunchHostFunc(second, count_call, &calls));
    sleep_millis(5);
    CHECK_RESULT(NOT_READY, cuStreamQuery(second));
    CHECK_RESULT(NOT_READY, cuEventElapsedTime(&millis, begin, end));
    CHECK(__atomic_load_n(&calls, __ATOMIC_SEQ_CST) == 0);
    *(volatile uint32_t *)address = 1;
    CHECK_OK(cuStreamSynchronize(second));
    CHECK(calls == 1);
    CHECK_OK(cuEventElapsedTime(&millis, begin, end));
    CHECK(millis >= 4);
    CHECK_RESULT(INVALID_HANDLE, cuEventElapsedTime(&millis, begin, untimed));
}

static void pageable_memory_is_read_at_once(void) {
    start(0);
    uint64_t address = one_granule(), stream = new_stream(NON_BLOCKING), other = new_stream(NON_BLOCKING);
    int source = 1, target = 0;
    void *pinned;
    CHECK_OK(cuMemHostAlloc(&pinned, sizeof(int), 0));
    *(volatile int *)pinned = 1;
    CHECK_OK(cuStreamWaitValue32_v2(stream, address, 1, GEQ));
    CHECK_OK(cuMemcpyHtoDAsync_v2(address + 64, &source, sizeof source, stream));
    CHECK_OK(cuMemcpyHtoDAsync_v2(address + 68, pinned, sizeof source, stream));
    source = 2;
    *(volatile int *)pinned = 2;
    CHECK_OK(cuStreamWriteValue32_v2(other, address, 1, 0));
    CHECK_OK(cuMemcpyDtoHAsync_v2(&target, address + 64, sizeof target, stream));
    CHECK(target == 1);
    CHECK_OK(cuMemcpyDtoHAsync_v2(&target, address + 68, sizeof target, stream));
    CHECK(target == 2);
    CHECK_OK(cuMemsetD2D32Async(address + 1024, 256, 6, 2, 3, stream));
    CHECK_OK(cuStreamSynchronize(stream));
    CHECK(*(uint32_t *)(address + 1024 + 512 + 4) == 6 && *(uint32_t *)(address + 1024 + 512 + 8) == 0);
}

static void an_illegal_address_ends_the_context(void) {
    start(0);
    struct access_description access = {{LOCATION_DEVICE, 0}, ACCESS_READ};
    uint64_t address = one_granule(), other = one_granule(), stream = new_stream(NON_BLOCKING), context;
    CHECK_RESULT(INVALID_VALUE, cuMemcpyDtoDAsync_v2(address, other + GRANULE, 4, stream));
    CHECK_RESULT(INVALID_VALUE, cuMemcpyDtoDAsync_v2(address + GRANULE - 4, other, 8, stream));
    CHECK_OK(cuStreamSynchronize(stream));
    CHECK_OK(cuStreamWaitValue32_v2(stream, address, 1, GEQ));
    CHECK_OK(cuMemcpyDtoDAsync_v2(address + 64, other, 4, stream));
    CHECK_OK(cuMemUnmap(other, GRANULE));
    *(volatile uint32_t *)address = 1;
    CHECK_RESULT(ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    CHECK_RESULT(ILLEGAL_ADDRESS, cuStreamQuery(stream));
    CHECK_RESULT(ILLEGAL_ADDRESS, cuCtxSynchronize());
    CHECK_RESULT(ILLEGAL_ADDRESS, cuMemAlloc_v2(&other, 4));
    /* Another context of the process goes on. */
    CHECK_OK(cuCtxCreate_v2(&context, 0, 0));
    CHECK_OK(cuMemSetAccess(address, GRANULE, &access, 1));
    CHECK_OK(cuMemcpyDtoH_v2(&access, address, 4));
    CHECK_RESULT(ILLEGAL_ADDRESS, cuMemsetD8_v2(address, 1, 1));
}

static void unmapping_under_a_parked_wait_is_noticed(void) {
    start(0);
    uint64_t address = one_granule(), stream = new_stream(NON_BLOCKING);
    CHECK_OK(cuStreamWaitValue32_v2(stream, address, 1, GEQ));
    sleep_millis(3);
    CHECK_OK(cuMemUnmap(address, GRANULE));
    CHECK_RESULT(ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
}

static void batched_copies(void) {
    start(0);
    uint64_t address = one_granule(), other = one_granule(), stream = new_stream(NON_BLOCKING);
    uint64_t to[] = {other, other + 8}, from[] = {address, address + 64};
    size_t sizes[] = {4, 4}, indices[] = {0, 1};
    struct copy_attributes attributes[] = {{.source_access_order = 1}, {.source_access_order = 3}};
    *(uint32_t *)address = 21;
    *(uint32_t *)(address + 64) = 22;
    CHECK_RESULT(INVALID_VALUE, cuMemcpyBatchAsync_v2(to, from, sizes, 2, attributes, indices, 2, 0));
    CHECK_RESULT(INVALID_VALUE, cuMemcpyBatchAsync_v2(to, from, sizes, 2, attributes, indices, 3, stream));
    CHECK_RESULT(INVALID_VALUE, cuMemcpyBatchAsync_v2(to, from, sizes, 2, NULL, indices, 2, stream));
    CHECK_OK(cuMemcpyBatchAsync_v2(to, from, sizes, 2, attributes, indices, 2, stream));
    CHECK_OK(cuStreamSynchronize(stream));
    CHECK(*(uint32_t *)other == 21 && *(uint32_t *)(other + 8) == 22);
}

static void a_parked_stream_does_not_keep_the_process(void) {
    start(0);
    uint64_t address = one_granule();
    CHECK_OK(cuStreamWaitValue32_v2(new_stream(NON_BLOCKING), address, 1, GEQ));
    CHECK_OK(cuStreamWaitValue32_v2(new_stream(0), address, 1, GEQ));
    CHECK_OK(cuStreamWriteValue32_v2(0, address, 1, 0));
}

static void releasing_the_context_ends_parked_waits(void) {
    start(0);
    uint64_t address = one_granule(), stream = new_stream(NON_BLOCKING);
    CHECK_OK(cuStreamWaitValue32_v2(stream, address, 1, GEQ));
    CHECK_OK(cuDevicePrimaryCtxRelease_v2(0));
    sleep_millis(5);
    CHECK(live("streams") == 0 && live("reclaimedWithContext") == 1);
    CHECK_OK(cuMemUnmap(address, GRANULE));
}

const struct test STREAM_TESTS[] = {
    {"a parked wait holds up its stream only", a_parked_wait_holds_up_its_stream_only, {NULL}},
    {"every condition waits", every_condition_waits, {NULL}},
    {"a batch is done in order or not at all", a_batch_is_done_in_order_or_not_at_all, {NULL}},
    {"the legacy stream waits for blocking streams", the_legacy_stream_waits_for_blocking_streams, {NULL}},
    {"events order streams", events_order_streams, {NULL}},
    {"pageable memory is read at once", pageable_memory_is_read_at_once, {NULL}},
    {"an illegal address ends the context", an_illegal_address_ends_the_context, {NULL}},
    {"unmapping under a parked wait is noticed", unmapping_under_a_parked_wait_is_noticed, {NULL}},
    {"batched copies", batched_copies, {NULL}},
    {"a parked stream does not keep the process", a_parked_stream_does_not_keep_the_process, {NULL}},
    {"releasing the context ends parked waits", releasing_the_context_ends_parked_waits, {NULL}},
    {NULL, NULL, {NULL}},
};
