/* Where the ranks of a communicator meet: a shared page for barriers and small values, and a socket each for descriptors. */
#ifndef MEETING_H
#define MEETING_H

#include <stdbool.h>
#include <stddef.h>

#include "nccl.h"

enum { MAX_RANKS = 16, SLOT_BYTES = 64, STAGING_BYTES = 1 << 20 };

struct meeting;

enum nccl_result meeting_name(struct unique_id *id);
enum nccl_result meeting_join(struct meeting **meeting, const struct unique_id *id, int ranks, int rank);
/* Waits for all; NCCL_REMOTE_ERROR if a rank's process is gone, NCCL_INTERNAL_ERROR if abort was asked for. */
enum nccl_result meeting_barrier(struct meeting *meeting);
/* Gives each rank every rank's value; two barriers. */
enum nccl_result meeting_gather(struct meeting *meeting, const void *own, size_t size, void *all);
/* Hands a descriptor to every other rank, and takes theirs; -1 at the own place. All descriptors are the caller's. */
enum nccl_result meeting_descriptors(struct meeting *meeting, int own, int *theirs);
/* As the barrier, for collectives on streams, which go on beside calls. */
enum nccl_result meeting_stream_barrier(struct meeting *meeting);
/* Where a rank puts what the others are to read of it, STAGING_BYTES, shared by all ranks. */
void *meeting_staging(struct meeting *meeting, int rank);
bool meeting_is_aborted(const struct meeting *meeting);
int meeting_ranks(const struct meeting *meeting);
int meeting_rank(const struct meeting *meeting);
/* Ends waits of this rank, from any thread. */
void meeting_abort(struct meeting *meeting);
void meeting_leave(struct meeting *meeting);

#endif
