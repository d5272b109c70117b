#include <stdlib.h>

#include "emulation.h"

static const char PREFIX[] = "SYMMEM_EMULATION_";

const char *setting(const char *name) {
    char full[96];
    snprintf(full, sizeof full, "%s%s", PREFIX, name);
    const char *value = getenv(full);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

long setting_number(const char *name, long otherwise) {
    const char *value = setting(name);
    if (value == NULL) {
        return otherwise;
    }
    char *end;
    long number = strtol(value, &end, 0);
    if (*end != '\0') {
        /* A wrong setting that falls back silently would make a test pass that tests nothing. */
        fprintf(stderr, "emulated CUDA driver: %s%s is \"%s\", which is no number\n", PREFIX, name, value);
        abort();
    }
    return number;
}
