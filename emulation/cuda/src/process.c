#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulation.h"

/* When a process began, which tells it from a later one with the same number; 0 if it is gone. */
uint64_t process_start_time(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    /* The name, in parentheses, may hold blanks; the state is the third field, the start time the 22nd. */
    const char *at = strrchr(text, ')');
    if (at == NULL || at[2] == 'Z' || at[2] == 'X') {
        return 0;
    }
    for (int field = 2; field < 22; field++) {
        at = strchr(at + 1, ' ');
        if (at == NULL) {
            return 0;
        }
    }
    return strtoull(at + 1, NULL, 10);
}

bool process_lives(pid_t pid, uint64_t start_time) {
    return start_time != 0 && process_start_time(pid) == start_time;
}
