package org.symmem.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.symmem.NativeCallException;

/**
 * The C library, one method a call. Each turns an error into a {@link NativeCallException} with the name of errno and what the
 * call was for. Local; any thread. Numbers are those of Linux on x86-64 and AArch64; the manual pages of section 2 are the source.
 *
 * <p>Functions are linked when they are first called: linking costs start-up time that most processes need not pay.
 */
public final class LibC {
    public static final int MFD_CLOEXEC = 1;
    public static final int MFD_ALLOW_SEALING = 2;
    public static final int F_SEAL_SEAL = 1;
    public static final int F_SEAL_SHRINK = 2;
    public static final int F_SEAL_GROW = 4;

    private static final int F_GETFD = 1;
    private static final int F_SETFD = 2;
    private static final int FD_CLOEXEC = 1;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int SEEK_END = 2;
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int FUTEX_WAIT = 0;
    private static final int FUTEX_WAKE = 1;
    private static final int SC_PAGESIZE = 30;

    private static final boolean AARCH64 = System.getProperty("os.arch").equals("aarch64");
    private static final long SYS_FUTEX = AARCH64 ? 98 : 202;
    private static final long SYS_PIDFD_OPEN = 434;
    private static final long SYS_PIDFD_GETFD = 438;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    /** Reused, so that calls which wait for signals allocate nothing. */
    private static final ThreadLocal<MemorySegment> STATE = ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CALL_STATE));

    private static final long PAGE_SIZE = available().isPresent() ? 4096 : Sysconf.call(SC_PAGESIZE);

    private LibC() {}

    /** {@return why these calls cannot be made here, or empty if they can} Never throws. */
    public static Optional<String> available() {
        String os = System.getProperty("os.name");
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        if (!os.equals("Linux")) {
            return Optional.of("needs Linux, this is " + os);
        }
        if (!arch.equals("amd64") && !arch.equals("x86_64") && !AARCH64) {
            return Optional.of("needs x86-64 or AArch64, this is " + arch);
        }
        return Optional.empty();
    }

    /** {@return the size of a page, in bytes} */
    public static long pageSize() {
        return PAGE_SIZE;
    }

    // ---- memory ----

    /** {@return a new anonymous file of size 0} */
    public static Descriptor memfdCreate(String name, int flags, String purpose) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = STATE.get();
            int fd = (int) MemfdCreate.HANDLE.invokeExact(state, arena.allocateFrom(name), flags);
            return new Descriptor(checked(fd, "memfd_create", state, purpose), purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Sets the size of a file, in bytes. */
    public static void ftruncate(int fd, long sizeBytes, String purpose) {
        try {
            MemorySegment state = STATE.get();
            checked((int) Ftruncate.HANDLE.invokeExact(state, fd, sizeBytes), "ftruncate", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return the size of a file, in bytes} Moves the file's position, which shared memory does not use. */
    public static long fileSize(int fd, String purpose) {
        try {
            MemorySegment state = STATE.get();
            return checked((long) Lseek.HANDLE.invokeExact(state, fd, 0L, SEEK_END), "lseek", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Forbids changes of a memfd for ever: {@code F_SEAL_…} joined by or. */
    public static void addSeals(int fd, int seals, String purpose) {
        fcntl(fd, F_ADD_SEALS, seals, "fcntl(F_ADD_SEALS)", purpose);
    }

    /** {@return the seals of a file, or -1 if it is of a kind that has none} */
    public static int seals(int fd) {
        try {
            return (int) Fcntl.HANDLE.invokeExact(STATE.get(), fd, F_GET_SEALS, 0);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return a second descriptor of the same file, close-on-exec} */
    public static Descriptor duplicate(int fd, String purpose) {
        return new Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 0, "fcntl(F_DUPFD_CLOEXEC)", purpose), purpose);
    }

    /** {@return the descriptor, which children of this process will not inherit} For descriptors that a library made. */
    public static Descriptor closeOnExec(Descriptor descriptor) {
        fcntl(descriptor.fd(), F_SETFD, FD_CLOEXEC, "fcntl(F_SETFD)", "making a descriptor close-on-exec");
        return descriptor;
    }

    /** {@return whether children of this process inherit a descriptor; not if it is closed} */
    static boolean isInheritable(int fd) {
        try {
            return (int) Fcntl.HANDLE.invokeExact(STATE.get(), fd, F_GETFD, 0) == 0;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Makes somebody else's descriptor close-on-exec; one that they have closed stays closed. */
    static void closeOnExec(int fd) {
        try {
            int ignored = (int) Fcntl.HANDLE.invokeExact(STATE.get(), fd, F_SETFD, FD_CLOEXEC);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static int fcntl(int fd, int command, int argument, String call, String purpose) {
        try {
            MemorySegment state = STATE.get();
            return checked((int) Fcntl.HANDLE.invokeExact(state, fd, command, argument), call, state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /**
     * Takes a range of address space without memory behind it.
     *
     * @param arena when it closes, the range and all that was mapped into it are unmapped, and later use throws
     * @return the range
     */
    public static MemorySegment reserve(long sizeBytes, Arena arena, String purpose) {
        long address = mmap(0, sizeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0, purpose);
        try {
            return MemorySegment.ofAddress(address).reinterpret(sizeBytes, arena, range -> munmap(range.address(), sizeBytes));
        } catch (IllegalStateException closedArena) {
            munmap(address, sizeBytes);
            throw closedArena;
        }
    }

    /** Maps a file into a place of a reserved range, instead of what is there. Sizes and offset are whole pages. */
    public static void mapInto(MemorySegment place, int fd, long offsetBytes, String purpose) {
        mmap(place.address(), place.byteSize(), PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, fd, offsetBytes, purpose);
    }

    /** Empties a place of a reserved range. */
    public static void unmapFrom(MemorySegment place, String purpose) {
        mmap(place.address(), place.byteSize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0, purpose);
    }

    private static long mmap(long address, long sizeBytes, int protection, int flags, int fd, long offsetBytes, String purpose) {
        try {
            MemorySegment state = STATE.get();
            long mapped = (long) Mmap.HANDLE.invokeExact(state, address, sizeBytes, protection, flags, fd, offsetBytes);
            return checked(mapped, "mmap", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static void munmap(long address, long sizeBytes) {
        try {
            MemorySegment state = STATE.get();
            checked((int) Munmap.HANDLE.invokeExact(state, address, sizeBytes), "munmap", state, "unmapping " + sizeBytes + " bytes");
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /**
     * Copies bytes that do not overlap; from some 16 KiB on faster than the JVM's own copy. The JVM cannot collect garbage
     * meanwhile, so a call should copy a few mebibytes at most.
     *
     * @param target off the heap, as long as the source
     * @param source off the heap
     */
    public static void memcpy(MemorySegment target, MemorySegment source) {
        try {
            Memcpy.HANDLE.invokeExact(target, source, source.byteSize());
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    // ---- sockets ----

    static int socket(int domain, int type, String purpose) {
        try {
            MemorySegment state = STATE.get();
            return checked((int) Socket.HANDLE.invokeExact(state, domain, type, 0), "socket", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void bind(int fd, MemorySegment address, int addressBytes, String purpose) {
        withAddress(Bind.HANDLE, "bind", fd, address, addressBytes, purpose);
    }

    static void connect(int fd, MemorySegment address, int addressBytes, String purpose) {
        withAddress(Connect.HANDLE, "connect", fd, address, addressBytes, purpose);
    }

    private static void withAddress(MethodHandle function, String call, int fd, MemorySegment address, int addressBytes, String purpose) {
        try {
            MemorySegment state = STATE.get();
            checked((int) function.invokeExact(state, fd, address, addressBytes), call, state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void listen(int fd, int backlog, String purpose) {
        try {
            MemorySegment state = STATE.get();
            checked((int) Listen.HANDLE.invokeExact(state, fd, backlog), "listen", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return the connection's descriptor, or -1 if none waits} */
    static int accept4(int fd, int flags, String purpose) {
        try {
            MemorySegment state = STATE.get();
            return unlessBlocked((int) Accept4.HANDLE.invokeExact(state, fd, MemorySegment.NULL, MemorySegment.NULL, flags), "accept4",
                    state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return the bytes sent, or -1 if the socket takes none now} */
    static int sendmsg(int fd, MemorySegment message, int flags, String purpose) {
        try {
            MemorySegment state = STATE.get();
            return unlessBlocked((int) (long) Sendmsg.HANDLE.invokeExact(state, fd, message, flags), "sendmsg", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return the bytes received, 0 at the end, or -1 if there are none now} A peer that was killed is an end too. */
    static int recvmsg(int fd, MemorySegment message, int flags, String purpose) {
        try {
            MemorySegment state = STATE.get();
            int received = (int) (long) Recvmsg.HANDLE.invokeExact(state, fd, message, flags);
            if (received < 0 && (int) ERRNO.get(state, 0L) == Errno.ECONNRESET) {
                // Said once, before what the peer had sent: that comes with the next call, and the end after it.
                received = (int) (long) Recvmsg.HANDLE.invokeExact(state, fd, message, flags);
            }
            return unlessBlocked(received, "recvmsg", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void getsockopt(int fd, int level, int name, MemorySegment value, MemorySegment valueBytes, String purpose) {
        try {
            MemorySegment state = STATE.get();
            checked((int) Getsockopt.HANDLE.invokeExact(state, fd, level, name, value, valueBytes), "getsockopt", state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Waits for one of several descriptors; an interruption by a signal counts as none being ready. */
    static void poll(MemorySegment descriptors, long number, int timeoutMillis, String purpose) {
        try {
            MemorySegment state = STATE.get();
            int ready = (int) Poll.HANDLE.invokeExact(state, descriptors, number, timeoutMillis);
            if (ready < 0 && (int) ERRNO.get(state, 0L) != Errno.EINTR) {
                checked(ready, "poll", state, purpose);
            }
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** {@return the effective user of this process} */
    static int geteuid() {
        try {
            return (int) Geteuid.HANDLE.invokeExact(STATE.get());
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    // ---- processes ----

    /**
     * Sends a signal to a process.
     *
     * @param number as in signal(7)
     * @return whether there was such a process
     */
    public static boolean kill(long pid, int number, String purpose) {
        try {
            MemorySegment state = STATE.get();
            int result = (int) Kill.HANDLE.invokeExact(state, (int) pid, number);
            if (result < 0 && (int) ERRNO.get(state, 0L) == Errno.ESRCH) {
                return false;
            }
            checked(result, "kill", state, purpose);
            return true;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static int unlessBlocked(int result, String call, MemorySegment state, String purpose) {
        int errno = result < 0 ? (int) ERRNO.get(state, 0L) : 0;
        return errno == Errno.EAGAIN || errno == Errno.EINTR ? -1 : checked(result, call, state, purpose);
    }

    // ---- other processes ----

    /** {@return a descriptor of a process} */
    public static Descriptor pidfdOpen(long pid, String purpose) {
        return new Descriptor((int) syscall3(SYS_PIDFD_OPEN, pid, 0, 0, "pidfd_open", purpose), purpose);
    }

    /** {@return a copy of another process's descriptor, close-on-exec} Needs the right to trace the process. */
    public static Descriptor pidfdGetfd(int pidfd, int fd, String purpose) {
        return new Descriptor((int) syscall3(SYS_PIDFD_GETFD, pidfd, fd, 0, "pidfd_getfd", purpose), purpose);
    }

    private static long syscall3(long number, long a, long b, long c, String call, String purpose) {
        try {
            MemorySegment state = STATE.get();
            return checked((long) Syscall3.HANDLE.invokeExact(state, number, a, b, c), call, state, purpose);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    // ---- sleeping ----

    /**
     * Sleeps while a word that processes share has a value. May return early for no reason.
     *
     * @param word         4 bytes, aligned
     * @param value        sleeps only if the word has this value
     * @param timeoutNanos how long at most
     */
    public static void futexWait(MemorySegment word, int value, long timeoutNanos) {
        try {
            MemorySegment timeout = TIMESPEC.get();
            timeout.set(JAVA_LONG, 0, timeoutNanos / 1_000_000_000);
            timeout.set(JAVA_LONG, 8, timeoutNanos % 1_000_000_000);
            // EAGAIN (the word has changed), ETIMEDOUT and EINTR all mean: look again.
            long ignored = (long) Futex.HANDLE.invokeExact(STATE.get(), SYS_FUTEX, word, FUTEX_WAIT, value, timeout, MemorySegment.NULL, 0);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Wakes all who sleep for a word. */
    public static void futexWake(MemorySegment word) {
        try {
            long ignored = (long) Futex.HANDLE.invokeExact(STATE.get(), SYS_FUTEX, word, FUTEX_WAKE, Integer.MAX_VALUE, MemorySegment.NULL,
                    MemorySegment.NULL, 0);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static final ThreadLocal<MemorySegment> TIMESPEC = ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(16, 8));

    /** Links what closing needs, while there still are descriptors for loading classes. */
    static void prepareToClose() {
        if (available().isEmpty()) {
            close(-1);
        }
    }

    static void close(int fd) {
        try {
            // After an error the descriptor is gone as well (close(2)), so there is nothing to do about one.
            int ignored = (int) Close.HANDLE.invokeExact(STATE.get(), fd);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    // ---- errors ----

    private static int checked(int result, String call, MemorySegment state, String purpose) {
        if (result < 0) {
            throw failed(call, (int) ERRNO.get(state, 0L), purpose);
        }
        return result;
    }

    private static long checked(long result, String call, MemorySegment state, String purpose) {
        if (result == -1) {
            throw failed(call, (int) ERRNO.get(state, 0L), purpose);
        }
        return result;
    }

    private static NativeCallException failed(String call, int errno, String purpose) {
        return new NativeCallException(Errno.code(errno), call, Errno.name(errno), errno, purpose + remedy(errno));
    }

    private static String remedy(int errno) {
        return switch (errno) {
            case Errno.EMFILE ->
                ". This process has too many open descriptors" + limit("Max open files") + ": close what is not needed, or raise ulimit -n";
            case Errno.ENFILE -> ". The host has too many open files: raise fs.file-max";
            case Errno.ENOMEM -> ". Memory or address space does not suffice" + limit("Max address space")
                    + ": ask for less, free some, or raise ulimit -v, vm.max_map_count or the container's limit";
            case Errno.EFBIG -> ". A limit of file sizes was reached" + limit("Max file size") + ": raise ulimit -f";
            case Errno.ENOSPC -> ". No space is left for shared memory: free some or raise the container's limit";
            default -> "";
        };
    }

    private static String limit(String name) {
        try {
            return Files.readAllLines(Path.of("/proc/self/limits"))
                    .stream()
                    .filter(line -> line.startsWith(name))
                    .map(line -> " (limit now " + line.substring(name.length()).strip().split(" +")[0] + ")")
                    .findFirst()
                    .orElse("");
        } catch (java.io.IOException e) {
            return "";
        }
    }

    private static RuntimeException rethrown(Throwable e) {
        if (e instanceof RuntimeException runtime) {
            return runtime;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }

    // ---- functions, each linked when its holder is first used ----

    private static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = java.util.Arrays.copyOf(options, options.length + 1);
        all[options.length] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type, all);
    }

    private static final class Sysconf {
        static long call(int name) {
            try {
                return (long) function("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT)).invokeExact(STATE.get(), name);
            } catch (Throwable e) {
                throw rethrown(e);
            }
        }
    }

    private static final class MemfdCreate {
        static final MethodHandle HANDLE = function("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    }

    private static final class Ftruncate {
        static final MethodHandle HANDLE = function("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    }

    private static final class Lseek {
        static final MethodHandle HANDLE = function("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    }

    private static final class Fcntl {
        static final MethodHandle HANDLE = function("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
                Linker.Option.firstVariadicArg(2));
    }

    private static final class Mmap {
        static final MethodHandle HANDLE = function("mmap",
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    }

    private static final class Munmap {
        static final MethodHandle HANDLE = function("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    }

    private static final class Close {
        static final MethodHandle HANDLE = function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    }

    private static final class Memcpy {
        // Without what it returns, which is the target again, for which the JVM would make an object a call.
        static final MethodHandle HANDLE = LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("memcpy"),
                FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_LONG), Linker.Option.critical(false));
    }

    private static final class Socket {
        static final MethodHandle HANDLE = function("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    }

    private static final class Bind {
        static final MethodHandle HANDLE = function("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    }

    private static final class Connect {
        static final MethodHandle HANDLE = function("connect", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    }

    private static final class Listen {
        static final MethodHandle HANDLE = function("listen", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    }

    private static final class Accept4 {
        static final MethodHandle HANDLE = function("accept4", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    }

    private static final class Sendmsg {
        static final MethodHandle HANDLE = function("sendmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    }

    private static final class Recvmsg {
        static final MethodHandle HANDLE = function("recvmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    }

    private static final class Getsockopt {
        static final MethodHandle HANDLE = function("getsockopt",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    }

    private static final class Poll {
        static final MethodHandle HANDLE = function("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    }

    private static final class Geteuid {
        static final MethodHandle HANDLE = function("geteuid", FunctionDescriptor.of(JAVA_INT));
    }

    private static final class Kill {
        static final MethodHandle HANDLE = function("kill", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    }

    private static final class Syscall3 {
        static final MethodHandle HANDLE = function("syscall", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
    }

    private static final class Futex {
        static final MethodHandle HANDLE = function("syscall",
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT),
                Linker.Option.firstVariadicArg(1));
    }
}
