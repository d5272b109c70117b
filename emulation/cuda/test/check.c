#include "check.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

const char *library_folder;
char scratch_folder[] = "/tmp/cuda-emulation-check-XXXXXX";

void start(int device) {
    uint64_t context;
    CHECK_OK(cuInit(0));
    CHECK_OK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK_OK(cuCtxSetCurrent(context));
}

struct allocation_properties exportable(int device) {
    return (struct allocation_properties){
        .type = ALLOCATION_PINNED,
        .handle_types = HANDLE_POSIX_DESCRIPTOR,
        .location_type = LOCATION_DEVICE,
        .location_id = device,
    };
}

uint64_t created(int device, size_t size) {
    uint64_t handle;
    struct allocation_properties properties = exportable(device);
    CHECK_OK(cuMemCreate(&handle, size, &properties, 0));
    return handle;
}

uint64_t mapped(uint64_t handle, size_t size, int device) {
    uint64_t address;
    struct access_description access = {{LOCATION_DEVICE, device}, ACCESS_READ_WRITE};
    CHECK_OK(cuMemAddressReserve(&address, size, 0, 0, 0));
    CHECK_OK(cuMemMap(address, size, 0, handle, 0));
    CHECK_OK(cuMemSetAccess(address, size, &access, 1));
    return address;
}

int live(const char *name) {
    char json[2048], key[64];
    emu_live_objects(json, sizeof json);
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    CHECK(at != NULL);
    return atoi(at + strlen(key));
}

void send_fd(int socket, int fd) {
    char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    CHECK(sendmsg(socket, &message, 0) == 1);
}

int receive_fd(int socket) {
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;
    CHECK(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message) != NULL);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

void tell(int socket) {
    CHECK(write(socket, "t", 1) == 1);
}

void hear(int socket) {
    char byte;
    CHECK(read(socket, &byte, 1) == 1);
}

pid_t start_process(void) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(20);
    }
    return child;
}

void must_exit_well(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void sleep_millis(long millis) {
    nanosleep(&(struct timespec){millis / 1000, millis % 1000 * 1000000}, NULL);
}

static bool passes(const struct test *test) {
    pid_t child = start_process();
    if (child == 0) {
        for (const char *const *variable = test->environment; *variable != NULL; variable++) {
            putenv(strdup(*variable));
        }
        test->run();
        exit(0);
    }
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int count, char **arguments) {
    const struct test *const all[] = {DEVICE_TESTS, MEMORY_TESTS, PLAIN_TESTS, STREAM_TESTS, MULTICAST_TESTS, CONTROL_TESTS};
    if (count < 2 || mkdtemp(scratch_folder) == NULL) {
        fprintf(stderr, "usage: check FOLDER-OF-LIBRARIES [TEST]\n");
        return 2;
    }
    library_folder = arguments[1];
    int passed = 0, failed = 0;
    for (size_t group = 0; group < sizeof all / sizeof all[0]; group++) {
        for (const struct test *test = all[group]; test->name != NULL; test++) {
            if (count > 2 && strcmp(arguments[2], test->name) != 0) {
                continue;
            }
            bool good = passes(test);
            passed += good;
            failed += !good;
            printf("%s %s\n", good ? "ok    " : "FAILED", test->name);
        }
    }
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", scratch_folder);
    int removed = system(command);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0 || removed != 0;
}
