#include "meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

struct page {
    atomic_int pids[MAX_RANKS];
    atomic_int arrived;
    atomic_int round;
    atomic_int stream_arrived;
    atomic_int stream_round;
    char slots[MAX_RANKS][SLOT_BYTES];
    _Alignas(4096) char staging[MAX_RANKS][STAGING_BYTES];
};

struct meeting {
    struct page *page;
    char name[64];
    int ranks;
    int rank;
    int socket;
    atomic_bool aborted;
};

enum nccl_result meeting_name(struct unique_id *id) {
    uint64_t token;
    if (getrandom(&token, sizeof token, 0) != sizeof token) {
        return NCCL_SYSTEM_ERROR;
    }
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "symmem-emulated-nccl-%016llx", (unsigned long long)token);
    return NCCL_OK;
}

/* Abstract, so that nothing stays behind. */
static socklen_t socket_address(struct sockaddr_un *address, const char *name, int rank) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s-%d", name, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static enum nccl_result open_socket(struct meeting *meeting) {
    struct sockaddr_un address;
    /* Without close-on-exec, as the real one's sockets are: whoever starts children has to see to it. */
    meeting->socket = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (meeting->socket < 0) {
        return NCCL_SYSTEM_ERROR;
    }
    socklen_t length = socket_address(&address, meeting->name, meeting->rank);
    struct timeval look = {.tv_usec = 20000};
    return bind(meeting->socket, (struct sockaddr *)&address, length) == 0
                    && setsockopt(meeting->socket, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look) == 0
            ? NCCL_OK
            : NCCL_SYSTEM_ERROR;
}

static bool somebody_is_gone(const struct meeting *meeting) {
    for (int rank = 0; rank < meeting->ranks; rank++) {
        int pid = atomic_load(&meeting->page->pids[rank]);
        if (pid != 0 && kill(pid, 0) != 0 && errno == ESRCH) {
            return true;
        }
    }
    return false;
}

static enum nccl_result pause_of(const struct meeting *meeting, unsigned turn) {
    if (atomic_load(&meeting->aborted)) {
        return NCCL_INTERNAL_ERROR;
    }
    if (turn % 256 == 255 && somebody_is_gone(meeting)) {
        return NCCL_REMOTE_ERROR;
    }
    usleep(turn < 200 ? 20 : 500);
    return NCCL_OK;
}

enum nccl_result meeting_join(struct meeting **joined, const struct unique_id *id, int ranks, int rank) {
    if (ranks < 1 || ranks > MAX_RANKS || rank < 0 || rank >= ranks
            || strnlen(id->internal, sizeof id->internal) >= sizeof((struct meeting *)0)->name
            || strncmp(id->internal, "symmem-emulated-nccl-", 21) != 0) {
        return NCCL_INVALID_ARGUMENT;
    }
    struct meeting *meeting = calloc(1, sizeof *meeting);
    strcpy(meeting->name, id->internal);
    meeting->ranks = ranks;
    meeting->rank = rank;
    char file[80];
    snprintf(file, sizeof file, "/%s", meeting->name);
    int fd = shm_open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct page)) != 0 || open_socket(meeting) != NCCL_OK) {
        if (fd >= 0) {
            close(fd);
        }
        free(meeting);
        return NCCL_SYSTEM_ERROR;
    }
    meeting->page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (meeting->page == MAP_FAILED) {
        close(meeting->socket);
        free(meeting);
        return NCCL_SYSTEM_ERROR;
    }
    atomic_store(&meeting->page->pids[rank], getpid());
    *joined = meeting;
    enum nccl_result result = meeting_barrier(meeting);
    /* Everybody has it, or nobody will: no file stays behind. */
    shm_unlink(file);
    if (result != NCCL_OK) {
        *joined = NULL;
        meeting_leave(meeting);
    }
    return result;
}

static enum nccl_result meet(const struct meeting *meeting, atomic_int *arrived, atomic_int *rounds) {
    int round = atomic_load(rounds);
    if (atomic_fetch_add(arrived, 1) + 1 == meeting->ranks) {
        atomic_store(arrived, 0);
        atomic_store(rounds, round + 1);
        return NCCL_OK;
    }
    for (unsigned turn = 0; atomic_load(rounds) == round; turn++) {
        enum nccl_result result = pause_of(meeting, turn);
        if (result != NCCL_OK) {
            return result;
        }
    }
    return NCCL_OK;
}

enum nccl_result meeting_barrier(struct meeting *meeting) {
    return meet(meeting, &meeting->page->arrived, &meeting->page->round);
}

enum nccl_result meeting_stream_barrier(struct meeting *meeting) {
    return meet(meeting, &meeting->page->stream_arrived, &meeting->page->stream_round);
}

void *meeting_staging(struct meeting *meeting, int rank) {
    return meeting->page->staging[rank];
}

bool meeting_is_aborted(const struct meeting *meeting) {
    return atomic_load(&meeting->aborted);
}

int meeting_ranks(const struct meeting *meeting) {
    return meeting->ranks;
}

int meeting_rank(const struct meeting *meeting) {
    return meeting->rank;
}

enum nccl_result meeting_gather(struct meeting *meeting, const void *own, size_t size, void *all) {
    memcpy(meeting->page->slots[meeting->rank], own, size);
    enum nccl_result result = meeting_barrier(meeting);
    for (int rank = 0; result == NCCL_OK && rank < meeting->ranks; rank++) {
        memcpy((char *)all + (size_t)rank * size, meeting->page->slots[rank], size);
    }
    return result == NCCL_OK ? meeting_barrier(meeting) : result;
}

static enum nccl_result send_descriptor(struct meeting *meeting, int peer, int fd) {
    struct sockaddr_un address;
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&meeting->rank, sizeof meeting->rank};
    struct msghdr message = {
        .msg_name = &address,
        .msg_namelen = socket_address(&address, meeting->name, peer),
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(meeting->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof meeting->rank ? NCCL_OK : NCCL_SYSTEM_ERROR;
}

static enum nccl_result receive_descriptor(struct meeting *meeting, int *peer, int *fd) {
    for (unsigned turn = 255;; turn += 256) {
        char control[CMSG_SPACE(sizeof(int))] = {0};
        struct iovec part = {peer, sizeof *peer};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        if (recvmsg(meeting->socket, &message, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof *peer) {
            struct cmsghdr *header = CMSG_FIRSTHDR(&message);
            if (header == NULL || header->cmsg_type != SCM_RIGHTS) {
                return NCCL_SYSTEM_ERROR;
            }
            memcpy(fd, CMSG_DATA(header), sizeof *fd);
            return NCCL_OK;
        }
        enum nccl_result result = pause_of(meeting, turn);
        if (result != NCCL_OK) {
            return result;
        }
    }
}

enum nccl_result meeting_descriptors(struct meeting *meeting, int own, int *theirs) {
    for (int rank = 0; rank < meeting->ranks; rank++) {
        theirs[rank] = -1;
    }
    enum nccl_result result = NCCL_OK;
    for (int peer = 0; result == NCCL_OK && peer < meeting->ranks; peer++) {
        if (peer != meeting->rank) {
            result = send_descriptor(meeting, peer, own);
        }
    }
    for (int left = meeting->ranks - 1; result == NCCL_OK && left > 0; left--) {
        int peer, fd;
        result = receive_descriptor(meeting, &peer, &fd);
        if (result == NCCL_OK) {
            theirs[peer] = fd;
        }
    }
    return result == NCCL_OK ? meeting_barrier(meeting) : result;
}

void meeting_abort(struct meeting *meeting) {
    atomic_store(&meeting->aborted, true);
}

void meeting_leave(struct meeting *meeting) {
    close(meeting->socket);
    munmap(meeting->page, sizeof(struct page));
    free(meeting);
}
