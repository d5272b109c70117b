#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "emulation.h"

static int live[KINDS];

static const char *const NAMES[KINDS] = {
    [CONTEXTS] = "contexts",
    [STREAMS] = "streams",
    [EVENTS] = "events",
    [HANDLES] = "handles",
    [MAPPINGS] = "mappings",
    [RESERVATIONS] = "reservations",
    [PLAIN_ALLOCATIONS] = "plainAllocations",
    [HOST_ALLOCATIONS] = "hostAllocations",
    [HOST_REGISTRATIONS] = "hostRegistrations",
    [IPC_MAPPINGS] = "ipcMappings",
    [MULTICAST_OBJECTS] = "multicastObjects",
    [MULTICAST_BINDINGS] = "multicastBindings",
    [MEMORIES] = "memories",
    [RECLAIMED] = "reclaimedWithContext",
};

void live_add(enum kind kind, int change) {
    live[kind] += change;
}

/*
 * Counted from the process's own table, since nobody tells a driver that a descriptor was closed: all of ours that are open, less
 * those that the emulation keeps for itself. So one that came from a peer and was not closed counts too.
 */
static int exported_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        return -1;
    }
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300], link[128];
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(path, link, sizeof link - 1);
        if (length > 0) {
            link[length] = '\0';
            count += strncmp(link, "/memfd:cuda-emu-", 16) == 0;
        }
    }
    closedir(folder);
    return count - memory_internal_descriptors() - multicast_internal_descriptors();
}

int live_report(char *json, size_t size) {
    char text[1024];
    int length = snprintf(text, sizeof text, "{");
    for (int kind = 0; kind < KINDS; kind++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "\"%s\":%d,", NAMES[kind], live[kind]);
    }
    length += snprintf(text + length, sizeof text - (size_t)length, "\"exportedDescriptors\":%d}", exported_descriptors());
    if (json != NULL && size > 0) {
        snprintf(json, size, "%s", text);
    }
    return length;
}
