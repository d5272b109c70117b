#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "call.h"

EXPORT int emu_live_objects(char *json, size_t size) {
    pthread_mutex_lock(&emulation_lock);
    int length = live_report(json, size);
    pthread_mutex_unlock(&emulation_lock);
    return length;
}

/* How often a function was called, with or without its _v suffix; "*" counts all. */
EXPORT uint64_t emu_calls(const char *name) {
    pthread_mutex_lock(&emulation_lock);
    uint64_t calls = 0;
    for (const struct call_site *site = call_sites(); site != NULL; site = site->next) {
        if (names_call(name, strlen(name), site->name)) {
            calls += site->calls;
        }
    }
    pthread_mutex_unlock(&emulation_lock);
    return calls;
}

static void write_report(FILE *file) {
    char live[1024];
    live_report(live, sizeof live);
    const char *rank = getenv("RANK");
    fprintf(file, "{\"emulated\":true,\"pid\":%d,\"rank\":%ld,\"live\":%s,\"calls\":{", (int)getpid(),
            rank != NULL ? strtol(rank, NULL, 10) : -1, live);
    const char *comma = "";
    for (const struct call_site *site = call_sites(); site != NULL; site = site->next) {
        fprintf(file, "%s\"%s\":%lu", comma, site->name, site->calls);
        comma = ",";
    }
    fprintf(file, "}}\n");
}

/* Joins no thread and waits for none: a parked stream must not keep a process from ending. */
__attribute__((destructor)) static void report_at_exit(void) {
    const char *prefix = setting("REPORT");
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    if (prefix == NULL || call_sites() == NULL || pthread_mutex_timedlock(&emulation_lock, &deadline) != 0) {
        return;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s.%d.json", prefix, (int)getpid());
    FILE *file = fopen(path, "we");
    if (file != NULL) {
        write_report(file);
        fclose(file);
    }
    pthread_mutex_unlock(&emulation_lock);
}
