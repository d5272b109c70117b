/* What the host library and its bootstrap plugin know of each other. The layout is this emulation's own. */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

enum { BOOTSTRAP_VERSION = 1, BOOTSTRAP_MAX_PES = 64, BOOTSTRAP_MAX_BYTES = 512, UNIQUE_ID_BYTES = 124 };

struct bootstrap {
    int rank, pes;
    /* Gives every PE what every PE contributes; waits for ever, as the real one does. */
    int (*allgather)(struct bootstrap *bootstrap, const void *own, void *all, size_t bytes);
    int (*barrier)(struct bootstrap *bootstrap);
    void (*finalize)(struct bootstrap *bootstrap);
    void *state;
};

/* By the names under which the real library looks its plugin's functions up. */
typedef int bootstrap_pre_init(char id[UNIQUE_ID_BYTES], int version);
struct bootstrap_arguments {
    const char *id;
    int rank, pes;
};
typedef int bootstrap_init(const struct bootstrap_arguments *arguments, struct bootstrap *bootstrap, int version);

#endif
