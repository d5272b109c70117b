#include "multicast.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A multicast object is a memfd that its holders share. Each binder keeps the memory that it bound and says here in which process
 * and under which descriptor it lies, so that whoever stores through the object can reach all of it. An entry of a process that
 * died is nobody's.
 */
enum { MAX_HOLDERS = 64, MAX_BINDINGS = 256 };

struct holder {
    int32_t pid;
    uint32_t zero;
    uint64_t start_time;
};

struct binding {
    struct holder binder;
    int32_t fd;
    int32_t device;
    uint64_t inode;
    uint64_t offset;
    uint64_t memory_offset;
    uint64_t size;
};

struct shared {
    uint64_t magic;
    uint64_t size;
    uint64_t handle_types;
    uint32_t devices;
    uint32_t added;
    uint8_t is_added[MAX_DEVICES];
    /* The last holder let go: what a late importer then gets is no longer this object. */
    uint32_t dead;
    pthread_mutex_t lock;
    struct holder holders[MAX_HOLDERS];
    struct binding bindings[MAX_BINDINGS];
};

struct multicast {
    int references;
    int fd;
    uint64_t inode;
    struct shared *shared;
    /* By the index of the shared entry, what this process keeps alive for it. */
    struct memory *bound[MAX_BINDINGS];
    struct multicast *next;
};

static const uint64_t MAGIC = 0x3173634d756d45u;
static const char NAME[] = "cuda-emu-multicast";

static struct multicast *multicasts;
static int internal_descriptors;

int multicast_internal_descriptors(void) {
    return internal_descriptors;
}

static void lock(struct shared *shared) {
    /* A holder that was killed in the middle of it has changed one entry at most, which then is nobody's. */
    if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD) {
        pthread_mutex_consistent(&shared->lock);
    }
}

static void unlock(struct shared *shared) {
    pthread_mutex_unlock(&shared->lock);
}

static struct holder self(void) {
    return (struct holder){.pid = getpid(), .start_time = process_start_time(getpid())};
}

static bool is_self(const struct holder *holder) {
    return holder->pid == getpid() && process_lives(holder->pid, holder->start_time);
}

static bool is_alive(const struct holder *holder) {
    return holder->pid != 0 && process_lives(holder->pid, holder->start_time);
}

/* Under the object's lock. */
static bool has_living_holder(const struct shared *shared) {
    for (int i = 0; i < MAX_HOLDERS; i++) {
        if (is_alive(&shared->holders[i])) {
            return true;
        }
    }
    return false;
}

static bool add_holder(struct shared *shared) {
    for (int i = 0; i < MAX_HOLDERS; i++) {
        if (!is_alive(&shared->holders[i])) {
            shared->holders[i] = self();
            return true;
        }
    }
    return false;
}

static struct multicast *adopt(int fd, struct shared *shared) {
    struct stat status;
    fstat(fd, &status);
    struct multicast *multicast = calloc(1, sizeof *multicast);
    multicast->references = 1;
    multicast->fd = fd;
    multicast->inode = status.st_ino;
    multicast->shared = shared;
    multicast->next = multicasts;
    multicasts = multicast;
    internal_descriptors++;
    live_add(MULTICAST_OBJECTS, 1);
    return multicast;
}

static enum result check_properties(const struct multicast_properties *properties) {
    if (properties == NULL || properties->devices == 0 || properties->devices > MAX_DEVICES || properties->flags != 0
            || (properties->handle_types & ~(uint64_t)(HANDLE_POSIX_DESCRIPTOR | HANDLE_FABRIC)) != 0) {
        return INVALID_VALUE;
    }
    if (!device_has_multicast()) {
        return NOT_SUPPORTED;
    }
    return (properties->handle_types & HANDLE_FABRIC) != 0 && setting_number("FABRIC", 0) == 0 ? NOT_PERMITTED : OK;
}

enum result multicast_granularity(size_t *bytes, const struct multicast_properties *properties, unsigned option) {
    enum result checked = bytes == NULL || option > 1 ? INVALID_VALUE : check_properties(properties);
    if (checked == OK) {
        /* Not the same, so that what takes one for the other is seen. */
        *bytes = option == 0 ? GRANULARITY : (size_t)setting_number("MULTICAST_RECOMMENDED", 2 * (long)GRANULARITY);
    }
    return checked;
}

enum result multicast_create(uint64_t *id, const struct multicast_properties *properties) {
    enum result checked = id == NULL ? INVALID_VALUE : check_properties(properties);
    if (checked != OK) {
        return checked;
    }
    if (properties->size == 0 || properties->size % GRANULARITY != 0) {
        return INVALID_VALUE;
    }
    int fd = memfd_create(NAME, MFD_CLOEXEC);
    if (fd < 0) {
        return OUT_OF_MEMORY;
    }
    struct shared *shared = MAP_FAILED;
    if (ftruncate(fd, sizeof *shared) == 0) {
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (shared == MAP_FAILED) {
        close(fd);
        return OUT_OF_MEMORY;
    }
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    shared->magic = MAGIC;
    shared->size = properties->size;
    shared->handle_types = properties->handle_types;
    shared->devices = properties->devices;
    add_holder(shared);
    *id = handle_new(NULL, adopt(fd, shared))->id;
    return OK;
}

enum result multicast_open(int fd, struct multicast **result) {
    struct stat status;
    if (!is_memfd_named(fd, NAME) || fstat(fd, &status) != 0 || status.st_size != sizeof(struct shared)) {
        return INVALID_VALUE;
    }
    for (struct multicast *known = multicasts; known != NULL; known = known->next) {
        if (known->inode == status.st_ino) {
            multicast_reference(known);
            *result = known;
            return OK;
        }
    }
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0) {
        return OUT_OF_MEMORY;
    }
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    if (shared == MAP_FAILED) {
        close(own);
        return OUT_OF_MEMORY;
    }
    lock(shared);
    bool joined = shared->magic == MAGIC && !shared->dead && has_living_holder(shared) && add_holder(shared);
    unlock(shared);
    if (!joined) {
        munmap(shared, sizeof *shared);
        close(own);
        return INVALID_VALUE;
    }
    *result = adopt(own, shared);
    return OK;
}

void multicast_reference(struct multicast *multicast) {
    multicast->references++;
}

static void drop_binding(struct multicast *multicast, int index) {
    multicast->shared->bindings[index].binder.pid = 0;
    memory_release(multicast->bound[index]);
    multicast->bound[index] = NULL;
    live_add(MULTICAST_BINDINGS, -1);
}

void multicast_release(struct multicast *multicast) {
    if (--multicast->references > 0) {
        return;
    }
    struct shared *shared = multicast->shared;
    lock(shared);
    for (int i = 0; i < MAX_BINDINGS; i++) {
        if (multicast->bound[i] != NULL) {
            drop_binding(multicast, i);
        }
    }
    for (int i = 0; i < MAX_HOLDERS; i++) {
        if (is_self(&shared->holders[i])) {
            shared->holders[i].pid = 0;
        }
    }
    shared->dead = !has_living_holder(shared);
    unlock(shared);
    for (struct multicast **link = &multicasts; *link != NULL; link = &(*link)->next) {
        if (*link == multicast) {
            *link = multicast->next;
            break;
        }
    }
    munmap(shared, sizeof *shared);
    close(multicast->fd);
    internal_descriptors--;
    live_add(MULTICAST_OBJECTS, -1);
    free(multicast);
}

int multicast_descriptor(const struct multicast *multicast) {
    return multicast->fd;
}

size_t multicast_size(const struct multicast *multicast) {
    return multicast->shared->size;
}

bool multicast_exportable(const struct multicast *multicast) {
    return (multicast->shared->handle_types & HANDLE_POSIX_DESCRIPTOR) != 0;
}

static bool is_complete(struct shared *shared) {
    lock(shared);
    bool complete = shared->added == shared->devices;
    unlock(shared);
    return complete;
}

/* The driver waits for ever; a test must get an answer, one that the driver documents for this call. */
enum result multicast_wait_complete(struct multicast *multicast) {
    uint64_t deadline = now_nanos() + (uint64_t)setting_number("BIND_WAIT_MS", 2000) * 1000000u;
    multicast_reference(multicast);
    bool complete;
    while (!(complete = is_complete(multicast->shared)) && now_nanos() < deadline) {
        pthread_mutex_unlock(&emulation_lock);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        pthread_mutex_lock(&emulation_lock);
    }
    multicast_release(multicast);
    return complete ? OK : SYSTEM_NOT_READY;
}

static struct multicast *find(uint64_t id) {
    struct handle *handle = handle_find(id);
    return handle != NULL ? handle->multicast : NULL;
}

enum result multicast_add_device(uint64_t id, int ordinal) {
    struct multicast *multicast = find(id);
    int device = device_of(ordinal);
    if (multicast == NULL || device < 0) {
        return multicast == NULL ? INVALID_VALUE : INVALID_DEVICE;
    }
    struct shared *shared = multicast->shared;
    lock(shared);
    bool fits = shared->added < shared->devices && !shared->is_added[device];
    if (fits) {
        shared->is_added[device] = 1;
        shared->added++;
    }
    unlock(shared);
    return fits ? OK : INVALID_VALUE;
}

static enum result bind(struct multicast *multicast, size_t offset, struct memory *memory, size_t memory_offset, size_t size) {
    struct shared *shared = multicast->shared;
    if (size == 0 || size % GRANULARITY != 0 || offset % GRANULARITY != 0 || memory_offset % GRANULARITY != 0
            || offset > shared->size || size > shared->size - offset || memory_offset > memory->size
            || size > memory->size - memory_offset || !shared->is_added[memory->device]
            || (multicast_exportable(multicast) && (memory->handle_types & HANDLE_POSIX_DESCRIPTOR) == 0)) {
        return INVALID_VALUE;
    }
    int vacant = -1;
    for (int i = 0; i < MAX_BINDINGS; i++) {
        struct binding *binding = &shared->bindings[i];
        if (!is_alive(&binding->binder)) {
            vacant = i;
        } else if (binding->device == memory->device && offset < binding->offset + binding->size && binding->offset < offset + size) {
            return INVALID_VALUE;
        }
    }
    if (vacant < 0) {
        return OUT_OF_MEMORY;
    }
    shared->bindings[vacant] = (struct binding){
        .binder = self(),
        .fd = memory->fd,
        .device = memory->device,
        .inode = memory->inode,
        .offset = offset,
        .memory_offset = memory_offset,
        .size = size,
    };
    memory_reference(memory);
    multicast->bound[vacant] = memory;
    live_add(MULTICAST_BINDINGS, 1);
    return OK;
}

/* The handles are looked up again after the wait, in which they may have been released. */
enum result multicast_bind_memory(uint64_t id, size_t offset, uint64_t memory_id, size_t memory_offset, size_t size, uint64_t flags) {
    if (find(id) == NULL || flags != 0) {
        return INVALID_VALUE;
    }
    enum result complete = multicast_wait_complete(find(id));
    struct multicast *multicast = find(id);
    struct handle *memory = handle_find(memory_id);
    if (complete != OK || multicast == NULL || memory == NULL || memory->memory == NULL) {
        return complete != OK ? complete : INVALID_VALUE;
    }
    lock(multicast->shared);
    enum result result = bind(multicast, offset, memory->memory, memory_offset, size);
    unlock(multicast->shared);
    return result;
}

enum result multicast_bind_address(uint64_t id, size_t offset, uint64_t address, size_t size, uint64_t flags) {
    if (find(id) == NULL || flags != 0) {
        return INVALID_VALUE;
    }
    enum result complete = multicast_wait_complete(find(id));
    struct multicast *multicast = find(id);
    struct mapping *mapping = mapping_at(address);
    if (complete != OK || multicast == NULL || mapping == NULL || mapping->handle->memory == NULL
            || size > mapping->address + mapping->size - address) {
        return complete != OK ? complete : INVALID_VALUE;
    }
    lock(multicast->shared);
    enum result result = bind(multicast, offset, mapping->handle->memory, address - mapping->address, size);
    unlock(multicast->shared);
    return result;
}

enum result multicast_unbind(uint64_t id, int ordinal, size_t offset, size_t size) {
    struct multicast *multicast = find(id);
    int device = device_of(ordinal);
    if (multicast == NULL || device < 0) {
        return multicast == NULL ? INVALID_VALUE : INVALID_DEVICE;
    }
    enum result result = INVALID_VALUE;
    lock(multicast->shared);
    for (int i = 0; i < MAX_BINDINGS && result != OK; i++) {
        const struct binding *binding = &multicast->shared->bindings[i];
        if (multicast->bound[i] != NULL && binding->device == device && binding->offset == offset && binding->size == size) {
            drop_binding(multicast, i);
            result = OK;
        }
    }
    unlock(multicast->shared);
    return result;
}

static const struct binding *binding_of(const struct shared *shared, int device, size_t offset) {
    for (int i = 0; i < MAX_BINDINGS; i++) {
        const struct binding *binding = &shared->bindings[i];
        if (binding->binder.pid != 0 && binding->device == device && offset >= binding->offset
                && offset - binding->offset < binding->size && is_alive(&binding->binder)) {
            return binding;
        }
    }
    return NULL;
}

size_t multicast_targets(struct multicast *multicast, size_t offset, struct target *targets, int *count) {
    struct shared *shared = multicast->shared;
    size_t length = shared->size - offset;
    *count = 0;
    lock(shared);
    for (int device = 0; device < MAX_DEVICES && length > 0; device++) {
        if (!shared->is_added[device]) {
            continue;
        }
        const struct binding *binding = binding_of(shared, device, offset);
        struct memory *memory;
        if (binding == NULL || memory_open_of(binding->binder.pid, binding->fd, binding->inode, false, &memory) != OK) {
            length = 0;
            break;
        }
        size_t at = offset - binding->offset;
        targets[(*count)++] = (struct target){memory->alias + binding->memory_offset + at, memory};
        if (binding->size - at < length) {
            length = binding->size - at;
        }
    }
    unlock(shared);
    if (length == 0) {
        targets_release(targets, *count);
        *count = 0;
    }
    return length;
}
