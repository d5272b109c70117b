/* What the C library's copy takes inside one process, from ordinary memory to a shared mapping, aligned and touched as ours is.
 * Arguments: sizes in bytes. Prints "SIZE NANOSECONDS", the median of 31 batches of a millisecond or more; for 8 bytes also "store NANOSECONDS", of a plain store. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 31, WARM_UP = 3, LINE = 64, BATCH_NANOS = 1000000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* As the host backend's buffers are: a memfd, mapped as a whole. */
static char *shared(size_t size) {
    int fd = memfd_create("memcpy", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0) {
        return NULL;
    }
    char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Through a pointer that the compiler must read anew, or it would leave copies out. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

static void copies(char *to, const char *from, size_t size, long calls) {
    for (long i = 0; i < calls; i++) {
        copy(to, from, size);
    }
}

static void stores(char *to, const char *from, size_t size, long calls) {
    (void)from;
    (void)size;
    for (long i = 0; i < calls; i++) {
        ((volatile long *)to)[i & 7] = i;
    }
}

typedef void work(char *to, const char *from, size_t size, long calls);

static double median(work *work, char *to, const char *from, size_t size) {
    double batches[BATCHES];
    long calls = 1;
    for (double took = 0; took < BATCH_NANOS; calls = took < BATCH_NANOS ? 2 * calls : calls) {
        double start = now();
        work(to, from, size, calls);
        took = now() - start;
    }
    for (int batch = -WARM_UP; batch < BATCHES; batch++) {
        double start = now();
        work(to, from, size, calls);
        if (batch >= 0) {
            batches[batch] = (now() - start) / calls;
        }
    }
    qsort(batches, BATCHES, sizeof batches[0], ascending);
    return batches[BATCHES / 2];
}

int main(int count, char **arguments) {
    for (int a = 1; a < count; a++) {
        size_t size = strtoull(arguments[a], NULL, 10);
        void *from;
        char *to = shared(size < LINE ? LINE : size);
        if (to == NULL || posix_memalign(&from, LINE, size) != 0) {
            perror("memory");
            return 1;
        }
        memset(from, 1, size);
        memset(to, 2, size);
        printf("%zu %.3f\n", size, median(copies, to, from, size));
        if (size == sizeof(long)) {
            printf("store %.3f\n", median(stores, to, from, size));
        }
        free(from);
        munmap(to, size < LINE ? LINE : size);
    }
    return 0;
}
