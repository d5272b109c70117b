#include <string.h>
#include <unistd.h>

#include "nvshmem.h"

const char *setting(const char *name) {
    char full[96];
    snprintf(full, sizeof full, "SYMMEM_EMULATION_NVSHMEM_%s", name);
    const char *value = getenv(full);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

size_t size_from(const char *variable, size_t otherwise) {
    const char *value = getenv(variable);
    if (value == NULL || value[0] == '\0') {
        return otherwise;
    }
    char *end;
    size_t number = strtoull(value, &end, 0);
    const char *units = "KMGT";
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (end == value || (*end != '\0' && (unit == NULL || end[1] != '\0'))) {
        fprintf(stderr, "emulated NVSHMEM: %s is \"%s\", which is no size\n", variable, value);
        abort();
    }
    return unit == NULL ? number : number << (10 * (unit - units + 1));
}

void end_process(const char *call, const char *message) {
    fprintf(stderr, "[emulated NVSHMEM, PE %d] %s: %s\n", library.bootstrap.rank, call, message);
    exit(-1);
}

void require_initialized(const char *call) {
    if (library.status < INITIALIZED) {
        end_process(call, "nvshmem initialization failed, or was never done");
    }
}

void require_not_limited(const char *call) {
    require_initialized(call);
    if (library.status == LIMITED_MPG) {
        end_process(call, "Called NVSHMEM API not supported with limited MPG (Multiple Processes Per GPU) runs");
    }
}

/* Whether one part of a rule, NAME=VALUE, is there, and its value. */
static bool part(const char *rule, size_t length, const char *name, char *value, size_t size) {
    const char *at = rule, *end = rule + length;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        size_t name_length = strlen(name);
        if ((size_t)(stop - at) > name_length && memcmp(at, name, name_length) == 0 && at[name_length] == '=') {
            snprintf(value, size, "%.*s", (int)(stop - at - (ptrdiff_t)name_length - 1), at + name_length + 1);
            return true;
        }
        at = stop + 1;
    }
    return false;
}

int failure_of(const char *call) {
    const char *rules = setting("FAIL");
    static int seen[16];
    for (int number = 0; rules != NULL && *rules != '\0' && number < 16; number++) {
        size_t length = strcspn(rules, ";");
        char value[64];
        const char *rank = getenv("RANK");
        bool here = part(rules, length, "call", value, sizeof value) && strcmp(value, call) == 0
                && (!part(rules, length, "rank", value, sizeof value) || (rank != NULL && strcmp(value, rank) == 0));
        int occurrence = part(rules, length, "occurrence", value, sizeof value) ? atoi(value) : 1;
        if (here && ++seen[number] == occurrence) {
            if (!part(rules, length, "code", value, sizeof value)) {
                snprintf(value, sizeof value, "%d", INTERNAL);
            }
            if (strcmp(value, "exit") == 0) {
                end_process(call, "failed on demand");
            }
            while (strcmp(value, "hang") == 0) {
                pause();
            }
            return atoi(value);
        }
        rules += length + (rules[length] == ';');
    }
    return 0;
}
