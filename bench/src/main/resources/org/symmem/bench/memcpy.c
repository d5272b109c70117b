/* What the C library's copy takes inside one process. Arguments: sizes in bytes. Prints "SIZE NANOSECONDS", the median of 15 batches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int count, char **arguments) {
    for (int a = 1; a < count; a++) {
        size_t size = strtoull(arguments[a], NULL, 10);
        char *from = malloc(size), *to = malloc(size);
        if (from == NULL || to == NULL) {
            return 1;
        }
        memset(from, 1, size);
        memset(to, 2, size);
        /* Through a pointer that the compiler must read anew, or it would leave copies out. */
        void *(*volatile copy)(void *, const void *, size_t) = memcpy;
        long calls = size < 65536 ? 20000 : size < 4000000 ? 100 : 3;
        double batches[15];
        for (int batch = -2; batch < 15; batch++) {
            double start = now();
            for (long i = 0; i < calls; i++) {
                copy(to, from, size);
            }
            if (batch >= 0) {
                batches[batch] = (now() - start) / calls;
            }
        }
        qsort(batches, 15, sizeof batches[0], ascending);
        printf("%zu %.3f\n", size, batches[7]);
        free(from);
        free(to);
    }
    return 0;
}
