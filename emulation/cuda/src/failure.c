#include <stdlib.h>
#include <string.h>

#include "call.h"

enum { MAX_RULES = 64 };

struct rule {
    char call[64];
    /* Which matching call fails, counted from 1; 0 is every one. */
    long occurrence;
    /* -1 is every rank. */
    long rank;
    long code;
    long seen;
};

static struct rule rules[MAX_RULES];
static int rule_count;
static bool is_set;

bool names_call(const char *pattern, size_t length, const char *call) {
    if (length == 1 && pattern[0] == '*') {
        return true;
    }
    if (strncmp(pattern, call, length) != 0) {
        return false;
    }
    const char *rest = call + length;
    return rest[0] == '\0' || (strncmp(rest, "_v", 2) == 0 && rest[2] >= '1' && rest[2] <= '9' && rest[3] == '\0');
}

static bool parse_number(const char *value, size_t length, long any, long *number) {
    if (length == 1 && value[0] == '*') {
        *number = any;
        return true;
    }
    char *end;
    *number = strtol(value, &end, 10);
    return length > 0 && end == value + length && *number >= 0;
}

static bool parse_part(const char *name, size_t name_length, const char *value, size_t length, struct rule *rule) {
    if (name_length == 4 && memcmp(name, "call", 4) == 0 && length > 0 && length < sizeof rule->call) {
        memcpy(rule->call, value, length);
        return true;
    }
    if (name_length == 10 && memcmp(name, "occurrence", 10) == 0) {
        return parse_number(value, length, 0, &rule->occurrence);
    }
    if (name_length == 4 && memcmp(name, "rank", 4) == 0) {
        return parse_number(value, length, -1, &rule->rank);
    }
    return name_length == 4 && memcmp(name, "code", 4) == 0 && parse_number(value, length, -1, &rule->code);
}

static bool parse_rule(const char *text, size_t length, struct rule *rule) {
    *rule = (struct rule){.occurrence = 1, .rank = -1, .code = -1};
    const char *end = text + length;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma != NULL ? comma : end;
        const char *equals = memchr(text, '=', (size_t)(stop - text));
        if (equals == NULL || !parse_part(text, (size_t)(equals - text), equals + 1, (size_t)(stop - equals - 1), rule)) {
            return false;
        }
        text = stop + (comma != NULL);
    }
    return rule->call[0] != '\0' && rule->code > 0;
}

static enum result set(const char *specification) {
    struct rule parsed[MAX_RULES];
    int count = 0;
    const char *at = specification != NULL ? specification : "";
    while (*at != '\0') {
        size_t length = strcspn(at, ";");
        if (length > 0) {
            if (count == MAX_RULES || !parse_rule(at, length, &parsed[count])) {
                return INVALID_VALUE;
            }
            count++;
        }
        at += length + (at[length] == ';');
    }
    memcpy(rules, parsed, sizeof rules[0] * (size_t)count);
    rule_count = count;
    is_set = true;
    return OK;
}

enum result failure_of(const char *call) {
    const char *specification = is_set ? NULL : setting("FAIL");
    if (specification != NULL && set(specification) != OK) {
        fprintf(stderr, "emulated CUDA driver: SYMMEM_EMULATION_FAIL is \"%s\", which is no list of failures\n", specification);
        abort();
    }
    is_set = true;
    enum result failure = OK;
    for (int i = 0; i < rule_count; i++) {
        struct rule *rule = &rules[i];
        if (!names_call(rule->call, strlen(rule->call), call)) {
            continue;
        }
        const char *rank = getenv("RANK");
        if (rule->rank >= 0 && (rank == NULL || strtol(rank, NULL, 10) != rule->rank)) {
            continue;
        }
        rule->seen++;
        if (failure == OK && (rule->occurrence == 0 || rule->occurrence == rule->seen)) {
            failure = (enum result)rule->code;
        }
    }
    return failure;
}

bool symbol_is_hidden(const char *name) {
    const char *at = setting("MISSING");
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, ",");
        if (length > 0 && names_call(at, length, name)) {
            return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

EXPORT int emu_fail(const char *specification) {
    pthread_mutex_lock(&emulation_lock);
    int result = set(specification);
    pthread_mutex_unlock(&emulation_lock);
    return result;
}
