#include <stdlib.h>

#include "emulation.h"

enum { BUCKETS = 1024, STEP = 16 };

struct object {
    uint64_t id;
    enum object_type type;
    void *object;
    struct object *next;
};

static struct object *buckets[BUCKETS];
/* Far from 0, 1 and 2, which name streams, and positive in languages whose long is signed. */
static uint64_t next_id = 0x0E00000000010000u;

static struct object **bucket_of(uint64_t id) {
    return &buckets[id / STEP % BUCKETS];
}

uint64_t object_add(enum object_type type, void *object) {
    struct object *entry = malloc(sizeof *entry);
    struct object **bucket = bucket_of(next_id);
    *entry = (struct object){next_id, type, object, *bucket};
    *bucket = entry;
    next_id += STEP;
    return entry->id;
}

void *object_find(enum object_type type, uint64_t id) {
    for (struct object *entry = *bucket_of(id); entry != NULL; entry = entry->next) {
        if (entry->id == id && entry->type == type) {
            return entry->object;
        }
    }
    return NULL;
}

void object_remove(uint64_t id) {
    for (struct object **link = bucket_of(id); *link != NULL; link = &(*link)->next) {
        if ((*link)->id == id) {
            struct object *entry = *link;
            *link = entry->next;
            free(entry);
            return;
        }
    }
}
