#include <stdlib.h>
#include <string.h>

#include "call.h"

static int visible[MAX_DEVICES];
static int visible_count;

static int device_count(void) {
    long count = setting_number("DEVICES", 1);
    return count < 0 ? 0 : count > MAX_DEVICES ? MAX_DEVICES : (int)count;
}

/* The same in every process, different on every device; recognisable in a log. */
static void uuid_of(int device, uint8_t uuid[16]) {
    memcpy(uuid, "emulated-cuda", 13);
    uuid[13] = 0;
    uuid[14] = 0xe0;
    uuid[15] = (uint8_t)device;
}

static void uuid_text(int device, char text[48]) {
    uint8_t uuid[16];
    uuid_of(device, uuid);
    int length = snprintf(text, 48, "GPU-");
    for (int i = 0; i < 16; i++) {
        length += snprintf(text + length, 48 - (size_t)length, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    }
}

/* Any beginning of a UUID names a device, if it is one device's only. */
static int device_of_uuid(const char *text, size_t length, int count) {
    int found = -1;
    for (int device = 0; device < count; device++) {
        char uuid[48];
        uuid_text(device, uuid);
        if (length <= strlen(uuid) && strncmp(uuid, text, length) == 0) {
            if (found >= 0) {
                return -1;
            }
            found = device;
        }
    }
    return found;
}

/* Gives the device that an element of CUDA_VISIBLE_DEVICES names, or -1. */
static int device_named(const char *text, size_t length, int count) {
    if (length >= 4 && strncmp(text, "GPU-", 4) == 0) {
        return device_of_uuid(text, length, count);
    }
    char *end;
    long number = strtol(text, &end, 10);
    return length > 0 && end == text + length && number >= 0 && number < count ? (int)number : -1;
}

/* What is no device ends the list; a device named twice leaves none. */
static void find_visible(const char *list, int count) {
    while (visible_count < MAX_DEVICES) {
        size_t length = strcspn(list, ",");
        int device = device_named(list, length, count);
        if (device >= 0 && ordinal_of(device) >= 0) {
            visible_count = 0;
            return;
        }
        if (device < 0) {
            return;
        }
        visible[visible_count++] = device;
        if (list[length] == '\0') {
            return;
        }
        list += length + 1;
    }
}

static enum result initialise(unsigned flags) {
    if (flags != 0) {
        return INVALID_VALUE;
    }
    visible_count = 0;
    int count = device_count();
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (list != NULL) {
        find_visible(list, count);
    } else {
        for (int device = 0; device < count; device++) {
            visible[visible_count++] = device;
        }
    }
    if (visible_count == 0) {
        return NO_DEVICE;
    }
    call_driver_is_ready();
    return OK;
}

int device_of(int ordinal) {
    return ordinal >= 0 && ordinal < visible_count ? visible[ordinal] : -1;
}

int ordinal_of(int device) {
    for (int ordinal = 0; ordinal < visible_count; ordinal++) {
        if (visible[ordinal] == device) {
            return ordinal;
        }
    }
    return -1;
}

size_t device_total_memory(void) {
    return (size_t)setting_number("MEMORY", 8L << 30);
}

bool device_has_multicast(void) {
    return setting_number("MULTICAST", 0) != 0;
}

bool devices_are_peers(void) {
    return setting_number("PEER_ACCESS", 1) != 0;
}

/* The numbers are those of CUdevice_attribute in the public CUDA driver API documentation. What is not listed reads 0. */
static const struct {
    int attribute, value;
} ATTRIBUTES[] = {
    {1, 1024},       /* threads per block */
    {2, 1024},       /* block dimension x */
    {3, 1024},       /* block dimension y */
    {4, 64},         /* block dimension z */
    {5, 2147483647}, /* grid dimension x */
    {6, 65535},      /* grid dimension y */
    {7, 65535},      /* grid dimension z */
    {8, 49152},      /* shared memory per block */
    {10, 32},        /* warp size */
    {12, 65536},     /* registers per block */
    {15, 1},         /* copies overlap */
    {16, 16},        /* multiprocessors */
    {19, 1},         /* can map host memory */
    {31, 1},         /* concurrent kernels */
    {39, 2048},      /* threads per multiprocessor */
    {40, 2},         /* copy engines */
    {41, 1},         /* unified addressing */
    {75, 9},         /* compute capability, major */
    {76, 0},         /* compute capability, minor */
    {78, 1},         /* stream priorities */
    {91, 1},         /* host pointer usable for registered memory */
    {92, 1},         /* stream memory operations, first interface */
    {93, 1},         /* 64-bit stream memory operations, first interface */
    {94, 1},         /* wait with NOR, first interface */
    {98, 0},         /* flush of remote writes */
    {102, 1},        /* virtual memory management */
    {103, 1},        /* POSIX descriptors as handles */
    {115, 0},        /* memory pools */
    {116, 0},        /* GPUDirect RDMA */
    {122, 1},        /* 64-bit stream memory operations */
    {123, 1},        /* wait with NOR */
    {124, 0},        /* dma-buf */
    {125, 0},        /* events between processes */
    {128, 1},        /* fabric handles: read 1 on an H200 where creating one is refused */
};

enum { PCI_BUS = 33, MULTICAST = 132 };

#ifdef OLD_DRIVER
enum { DRIVER_VERSION = 12000, LAST_ATTRIBUTE = MULTICAST - 1 };
#else
enum { DRIVER_VERSION = 13000, LAST_ATTRIBUTE = 160 };
#endif

static enum result attribute_of(int *value, int attribute, int device) {
    if (value == NULL || attribute < 1 || attribute > LAST_ATTRIBUTE) {
        return INVALID_VALUE;
    }
    *value = attribute == PCI_BUS ? device + 1 : attribute == MULTICAST ? device_has_multicast() : 0;
    for (size_t i = 0; i < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; i++) {
        if (ATTRIBUTES[i].attribute == attribute) {
            *value = ATTRIBUTES[i].value;
        }
    }
    return OK;
}

/* Once it has worked, it changes nothing. */
EXPORT int cuInit(unsigned flags) {
    CALL(NEEDS_NOTHING, "flags=%u", flags);
    REPLY(visible_count > 0 && flags == 0 ? OK : initialise(flags));
}

EXPORT int cuDriverGetVersion(int *version) {
    CALL(NEEDS_NOTHING, "%s", "");
    if (version == NULL) {
        REPLY(INVALID_VALUE);
    }
    *version = (int)setting_number("DRIVER_VERSION", DRIVER_VERSION);
    REPLY(OK);
}

EXPORT int cuDeviceGetCount(int *count) {
    CALL(NEEDS_DRIVER, "%s", "");
    if (count == NULL) {
        REPLY(INVALID_VALUE);
    }
    *count = visible_count;
    REPLY(OK);
}

static enum result check(const void *out, int ordinal) {
    return out == NULL ? INVALID_VALUE : device_of(ordinal) < 0 ? INVALID_DEVICE : OK;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
    CALL(NEEDS_DRIVER, "ordinal=%d", ordinal);
    enum result checked = check(device, ordinal);
    if (checked == OK) {
        *device = ordinal;
    }
    REPLY(checked);
}

EXPORT int cuDeviceGetName(char *name, int length, int ordinal) {
    CALL(NEEDS_DRIVER, "length=%d,device=%d", length, ordinal);
    enum result checked = check(length > 0 ? name : NULL, ordinal);
    if (checked == OK) {
        snprintf(name, (size_t)length, "Emulated CUDA device");
    }
    REPLY(checked);
}

static enum result copy_uuid(uint8_t *uuid, int ordinal) {
    enum result checked = check(uuid, ordinal);
    if (checked == OK) {
        uuid_of(device_of(ordinal), uuid);
    }
    return checked;
}

EXPORT int cuDeviceGetUuid(uint8_t *uuid, int ordinal) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    REPLY(copy_uuid(uuid, ordinal));
}

EXPORT int cuDeviceGetUuid_v2(uint8_t *uuid, int ordinal) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    REPLY(copy_uuid(uuid, ordinal));
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int ordinal) {
    CALL(NEEDS_DRIVER, "attribute=%d,device=%d", attribute, ordinal);
    enum result checked = check(value, ordinal);
    REPLY(checked == OK ? attribute_of(value, attribute, device_of(ordinal)) : checked);
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int ordinal) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    enum result checked = check(bytes, ordinal);
    if (checked == OK) {
        *bytes = device_total_memory();
    }
    REPLY(checked);
}

EXPORT int cuDeviceComputeCapability(int *major, int *minor, int ordinal) {
    CALL(NEEDS_DRIVER, "device=%d", ordinal);
    enum result checked = check(minor != NULL ? major : NULL, ordinal);
    if (checked == OK) {
        *major = 9;
        *minor = 0;
    }
    REPLY(checked);
}

EXPORT int cuDeviceGetPCIBusId(char *id, int length, int ordinal) {
    CALL(NEEDS_DRIVER, "length=%d,device=%d", length, ordinal);
    enum result checked = check(length >= 13 ? id : NULL, ordinal);
    if (checked == OK) {
        snprintf(id, (size_t)length, "0000:%02X:00.0", device_of(ordinal) + 1);
    }
    REPLY(checked);
}

EXPORT int cuDeviceGetByPCIBusId(int *device, const char *id) {
    CALL(NEEDS_DRIVER, "id=%s", id ? id : "NULL");
    unsigned domain, bus, slot, function;
    if (device == NULL || id == NULL || sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
        REPLY(INVALID_VALUE);
    }
    int ordinal = domain == 0 && slot == 0 && function == 0 ? ordinal_of((int)bus - 1) : -1;
    if (ordinal < 0) {
        REPLY(INVALID_DEVICE);
    }
    *device = ordinal;
    REPLY(OK);
}

static enum result peers(int *can, int ordinal, int other) {
    enum result checked = device_of(other) < 0 ? INVALID_DEVICE : check(can, ordinal);
    if (checked == OK) {
        *can = ordinal != other && devices_are_peers();
    }
    return checked;
}

EXPORT int cuDeviceCanAccessPeer(int *can, int ordinal, int other) {
    CALL(NEEDS_DRIVER, "device=%d,peer=%d", ordinal, other);
    REPLY(peers(can, ordinal, other));
}

/* Of the attributes 1 to 4 the first is a rank of performance, lower is better; the others say what works between the two. */
EXPORT int cuDeviceGetP2PAttribute(int *value, int attribute, int ordinal, int other) {
    CALL(NEEDS_DRIVER, "attribute=%d,device=%d,peer=%d", attribute, ordinal, other);
    if (attribute < 1 || attribute > 4 || ordinal == other) {
        REPLY(INVALID_VALUE);
    }
    enum result result = peers(value, ordinal, other);
    if (result == OK && attribute == 1) {
        *value = 0;
    }
    REPLY(result);
}
