#ifndef COPIES_H
#define COPIES_H

#include "call.h"

/* Checks and enqueues a copy; gives its sequence number in the stream. */
enum result copy_submit(struct stream *stream, uint64_t to, enum side to_side, uint64_t from, enum side from_side, size_t size,
        uint64_t *sequence);

#endif
