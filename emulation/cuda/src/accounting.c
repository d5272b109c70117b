#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulation.h"

/*
 * The box that processes share, a file of this layout. An entry says that a process holds a memory; what several processes hold is
 * counted once. An entry of a process that died is nobody's, whatever way it died.
 *
 *   Box     0 magic u64 | 8 entries
 *   Entry   0 pid i32 | 4 device u32 | 8 start time u64 | 16 key u64 | 24 size u64
 */
enum { ENTRIES = 8192 };

struct entry {
    int32_t pid;
    uint32_t device;
    uint64_t start_time;
    uint64_t key;
    uint64_t size;
};

struct box {
    uint64_t magic;
    struct entry entries[ENTRIES];
};

static const uint64_t MAGIC = 0x31786f42756d45u;

static struct box *box;
static int box_fd = -1;
static uint64_t own_start_time;

static void fail(const char *what, const char *path) {
    fprintf(stderr, "emulated CUDA driver: cannot %s %s, which SYMMEM_EMULATION_DIR asks for\n", what, path);
    abort();
}

static struct box *open_box(void) {
    own_start_time = process_start_time(getpid());
    const char *folder = setting("DIR");
    if (folder == NULL) {
        return calloc(1, sizeof *box);
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/cuda-emulation-memory", folder);
    box_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (box_fd < 0 || ftruncate(box_fd, sizeof *box) != 0) {
        fail("open", path);
    }
    struct box *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, box_fd, 0);
    if (shared == MAP_FAILED) {
        fail("map", path);
    }
    return shared;
}

/* A file lock, since the kernel gives it up for a process that dies. */
static void lock_box(void) {
    if (box == NULL) {
        box = open_box();
    }
    if (box_fd >= 0) {
        flock(box_fd, LOCK_EX);
    }
    if (box->magic != 0 && box->magic != MAGIC) {
        fail("use", "a file of another layout");
    }
    box->magic = MAGIC;
}

static void unlock_box(void) {
    if (box_fd >= 0) {
        flock(box_fd, LOCK_UN);
    }
}

static void drop_the_dead(void) {
    pid_t asked = 0;
    uint64_t asked_start = 0;
    bool lives = false;
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *entry = &box->entries[i];
        if (entry->pid == 0) {
            continue;
        }
        if (entry->pid != asked || entry->start_time != asked_start) {
            asked = entry->pid;
            asked_start = entry->start_time;
            lives = process_lives(asked, asked_start);
        }
        if (!lives) {
            entry->pid = 0;
        }
    }
}

static size_t used(int device) {
    size_t sum = 0;
    for (int i = 0; i < ENTRIES; i++) {
        const struct entry *entry = &box->entries[i];
        if (entry->pid == 0 || entry->device != (uint32_t)device) {
            continue;
        }
        bool counted = false;
        for (int before = 0; before < i && !counted; before++) {
            const struct entry *other = &box->entries[before];
            counted = other->pid != 0 && other->key == entry->key;
        }
        sum += counted ? 0 : entry->size;
    }
    return sum;
}

bool account_charge(int device, uint64_t key, size_t size, bool limited) {
    lock_box();
    drop_the_dead();
    size_t total = device_total_memory();
    size_t already = limited ? used(device) : 0;
    bool charged = false;
    for (int i = 0; i < ENTRIES && already <= total && (!limited || size <= total - already); i++) {
        if (box->entries[i].pid == 0) {
            box->entries[i] = (struct entry){getpid(), (uint32_t)device, own_start_time, key, size};
            charged = true;
            break;
        }
    }
    unlock_box();
    return charged;
}

void account_discharge(int device, uint64_t key) {
    lock_box();
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *entry = &box->entries[i];
        if (entry->pid == getpid() && entry->device == (uint32_t)device && entry->key == key) {
            entry->pid = 0;
            break;
        }
    }
    unlock_box();
}

size_t account_used(int device) {
    lock_box();
    drop_the_dead();
    size_t sum = used(device);
    unlock_box();
    return sum;
}
