#ifndef WORDS_H
#define WORDS_H

#include "call.h"
#include "structures.h"

/* Nothing of a batch is done if one of its operations is wrong. */
enum result words_batch(const struct call *call, uint64_t stream, unsigned count, const struct memory_operation *operations,
        unsigned flags);

#endif
