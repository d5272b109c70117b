package org.symmem.linux;

import java.util.Map;
import java.util.Set;
import org.symmem.ErrorCode;

/** The names of Linux error numbers; the same on x86-64 and AArch64 (asm-generic/errno.h). */
final class Errno {
    static final int EPERM = 1;
    static final int ESRCH = 3;
    static final int EINTR = 4;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int ENFILE = 23;
    static final int EMFILE = 24;
    static final int EFBIG = 27;
    static final int ENOSPC = 28;
    static final int ENOSYS = 38;
    static final int ECONNRESET = 104;
    static final int ETIMEDOUT = 110;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(EPERM, "EPERM"), Map.entry(2, "ENOENT"), Map.entry(ESRCH, "ESRCH"), Map.entry(EINTR, "EINTR"), Map.entry(5, "EIO"),
            Map.entry(9, "EBADF"), Map.entry(EAGAIN, "EAGAIN"), Map.entry(ENOMEM, "ENOMEM"), Map.entry(13, "EACCES"),
            Map.entry(14, "EFAULT"),
            Map.entry(16, "EBUSY"), Map.entry(17, "EEXIST"), Map.entry(22, "EINVAL"), Map.entry(ENFILE, "ENFILE"),
            Map.entry(EMFILE, "EMFILE"),
            Map.entry(EFBIG, "EFBIG"), Map.entry(ENOSPC, "ENOSPC"), Map.entry(32, "EPIPE"), Map.entry(36, "ENAMETOOLONG"),
            Map.entry(ENOSYS, "ENOSYS"),
            Map.entry(75, "EOVERFLOW"), Map.entry(98, "EADDRINUSE"), Map.entry(ECONNRESET, "ECONNRESET"), Map.entry(109, "ETOOMANYREFS"),
            Map.entry(ETIMEDOUT, "ETIMEDOUT"),
            Map.entry(111, "ECONNREFUSED"), Map.entry(115, "EINPROGRESS"));
    private static final Set<Integer> LIMITS = Set.of(ENOMEM, ENFILE, EMFILE, EFBIG, ENOSPC);

    private Errno() {}

    static String name(int errno) {
        return NAMES.getOrDefault(errno, "errno");
    }

    static ErrorCode code(int errno) {
        return LIMITS.contains(errno) ? ErrorCode.RESOURCE_LIMIT : ErrorCode.NATIVE_CALL;
    }
}
