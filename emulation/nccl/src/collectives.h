/* Collectives in the order of streams: through memory that the ranks share, a piece at a time. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "meeting.h"

struct collectives;

struct collectives *collectives_over(struct meeting *meeting);
int collectives_broadcast(struct collectives *all, uint64_t source, uint64_t target, size_t size, int root, uint64_t stream);
int collectives_gather(struct collectives *all, uint64_t source, uint64_t target, size_t size, uint64_t stream);
/* Waits for what is on streams, which soon ends where the meeting is aborted. False if it did not: then nothing is freed. */
bool collectives_end(struct collectives *all);

#endif
