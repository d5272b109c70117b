/* Every test runs in a process of its own, since the driver's state and its environment are a process's. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../src/results.h"
#include "driver.h"

#define GRANULE ((size_t)2 << 20)

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
            _exit(1);                                                                     \
        }                                                                                 \
    } while (0)

#define CHECK_RESULT(expected, call)                                                                              \
    do {                                                                                                          \
        int result_ = (call);                                                                                     \
        if (result_ != (expected)) {                                                                              \
            fprintf(stderr, "%s:%d: %s gave %d, not %d\n", __FILE__, __LINE__, #call, result_, (int)(expected));  \
            _exit(1);                                                                                             \
        }                                                                                                         \
    } while (0)

#define CHECK_OK(call) CHECK_RESULT(OK, call)

struct test {
    const char *name;
    void (*run)(void);
    /* NAME=value, ended by NULL. */
    const char *environment[6];
};

extern const struct test DEVICE_TESTS[], MEMORY_TESTS[], PLAIN_TESTS[], STREAM_TESTS[], MULTICAST_TESTS[], CONTROL_TESTS[];
/* The folder with the libraries, and one that is the test's own. */
extern const char *library_folder;
extern char scratch_folder[];

/* Initialises the driver and makes the primary context of a device current. */
void start(int device);
struct allocation_properties exportable(int device);
/* Creates memory of one granule, maps it and gives a device access. */
uint64_t mapped(uint64_t handle, size_t size, int device);
uint64_t created(int device, size_t size);
/* The value of one counter of live objects. */
int live(const char *name);
void send_fd(int socket, int fd);
int receive_fd(int socket);
/* One byte back and forth orders two processes. */
void tell(int socket);
void hear(int socket);
/* fork(), whose child does not outlive the test. */
pid_t start_process(void);
void must_exit_well(pid_t child);
void sleep_millis(long millis);

#endif
