#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulation.h"

/*
 * A memory is a memfd of its size and one page more, the trailer, that says what it is to a process that gets the descriptor.
 * The file's name says whose it is, so a descriptor of something else is refused before it is read.
 *
 *   Trailer  0 magic u64 | 8 size u64 | 16 device u32 | 20 handle types u32 | 24 GPUDirect RDMA u32 | 28 zero
 */
struct trailer {
    uint64_t magic;
    uint64_t size;
    uint32_t device;
    uint32_t handle_types;
    uint32_t rdma;
    uint32_t zero;
};

static const uint64_t MAGIC = 0x316d654d756d45u;
static const char SHAREABLE[] = "cuda-emu-memory";
static const char PLAIN[] = "cuda-emu-plain";

static struct memory *memories;
static int internal_descriptors;

int memory_internal_descriptors(void) {
    return internal_descriptors;
}

static struct memory *known(uint64_t inode) {
    for (struct memory *memory = memories; memory != NULL; memory = memory->next) {
        if (memory->inode == inode) {
            return memory;
        }
    }
    return NULL;
}

/* Makes a memory of a descriptor, which becomes its own, or closes it. */
static enum result adopt(int fd, const struct trailer *trailer, bool limited, struct memory **result) {
    struct stat status;
    uint8_t *alias = mmap(NULL, trailer->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (alias == MAP_FAILED) {
        close(fd);
        return OUT_OF_MEMORY;
    }
    fstat(fd, &status);
    if (!account_charge((int)trailer->device, status.st_ino, trailer->size, limited)) {
        munmap(alias, trailer->size);
        close(fd);
        return OUT_OF_MEMORY;
    }
    struct memory *memory = malloc(sizeof *memory);
    *memory = (struct memory){
        .references = 1,
        .fd = fd,
        .inode = status.st_ino,
        .size = trailer->size,
        .device = (int)trailer->device,
        .handle_types = trailer->handle_types,
        .rdma = trailer->rdma != 0,
        .alias = alias,
        .next = memories,
    };
    memories = memory;
    internal_descriptors++;
    live_add(MEMORIES, 1);
    *result = memory;
    return OK;
}

enum result memory_create(size_t size, int device, uint32_t handle_types, bool rdma, bool plain, struct memory **result) {
    /* Asked before there is a file: the size may be larger than a file can be. */
    size_t used = account_used(device);
    if (used > device_total_memory() || size > device_total_memory() - used) {
        return OUT_OF_MEMORY;
    }
    int fd = memfd_create(plain ? PLAIN : SHAREABLE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return OUT_OF_MEMORY;
    }
    struct trailer trailer = {
        .magic = MAGIC,
        .size = size,
        .device = (uint32_t)device,
        .handle_types = handle_types,
        .rdma = rdma,
    };
    if (ftruncate(fd, (off_t)(size + PAGE)) != 0 || pwrite(fd, &trailer, sizeof trailer, (off_t)size) != sizeof trailer
            || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        close(fd);
        return OUT_OF_MEMORY;
    }
    return adopt(fd, &trailer, true, result);
}

bool is_memfd_named(int fd, const char *name) {
    char path[64], link[128], wanted[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0) {
        return false;
    }
    link[length] = '\0';
    snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", name);
    return strcmp(link, wanted) == 0;
}

enum result memory_open(int fd, bool plain, struct memory **result) {
    struct stat status;
    struct trailer trailer;
    if (!is_memfd_named(fd, plain ? PLAIN : SHAREABLE) || fstat(fd, &status) != 0 || status.st_size <= (off_t)PAGE) {
        return INVALID_VALUE;
    }
    size_t size = (size_t)status.st_size - PAGE;
    if (pread(fd, &trailer, sizeof trailer, (off_t)size) != sizeof trailer || trailer.magic != MAGIC || trailer.size != size
            || trailer.device >= MAX_DEVICES) {
        return INVALID_VALUE;
    }
    struct memory *memory = known(status.st_ino);
    if (memory != NULL) {
        memory_reference(memory);
        *result = memory;
        return OK;
    }
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0) {
        return OUT_OF_MEMORY;
    }
    return adopt(own, &trailer, false, result);
}

enum result memory_open_of(pid_t pid, int fd, uint64_t inode, bool plain, struct memory **result) {
    struct memory *memory = known(inode);
    if (memory != NULL) {
        memory_reference(memory);
        *result = memory;
        return OK;
    }
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    int found = open(path, O_RDWR | O_CLOEXEC);
    if (found < 0) {
        return INVALID_VALUE;
    }
    /* The number may be another file's by now. */
    enum result opened = fstat(found, &status) == 0 && status.st_ino == inode ? memory_open(found, plain, result) : INVALID_VALUE;
    close(found);
    return opened;
}

void memory_reference(struct memory *memory) {
    memory->references++;
}

void memory_release(struct memory *memory) {
    if (--memory->references > 0) {
        return;
    }
    for (struct memory **link = &memories; *link != NULL; link = &(*link)->next) {
        if (*link == memory) {
            *link = memory->next;
            break;
        }
    }
    munmap(memory->alias, memory->size);
    close(memory->fd);
    internal_descriptors--;
    account_discharge(memory->device, memory->inode);
    live_add(MEMORIES, -1);
    free(memory);
}
