package org.symmem.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/**
 * A unix socket that keeps messages apart (SOCK_SEQPACKET), carries descriptors with them, and never blocks. Its name is in the
 * abstract namespace, so nothing is left in the file system whatever becomes of the process (unix(7)).
 *
 * <pre>
 *   struct sockaddr_un   0 family u16 | 2 zero byte | 3 name … | up to 110
 *   struct msghdr        0 name | 8 name length u32 | 16 iov | 24 iov count | 32 control | 40 control length | 48 flags i32 | 56
 *   struct iovec         0 base | 8 length | 16
 *   struct cmsghdr       0 length u64 | 8 level i32 | 12 type i32 | 16 data: descriptors, i32 each
 *   struct ucred         0 pid i32 | 4 uid u32 | 8 gid u32 | 12
 * </pre>
 */
public final class UnixSocket implements AutoCloseable {
    /** The longest name in the abstract namespace, in bytes: sun_path without the zero before it. */
    public static final int LONGEST_NAME = 107;

    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET = 5;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int MSG_CTRUNC = 8;
    private static final int MSG_TRUNC = 0x20;

    private static final long SUN_NAME = 3;
    private static final long SUN_BYTES = 110;
    private static final long MSG_IOV = 16;
    private static final long MSG_IOV_COUNT = 24;
    private static final long MSG_CONTROL = 32;
    private static final long MSG_CONTROL_BYTES = 40;
    private static final long MSG_FLAGS = 48;
    private static final long MSG_BYTES = 56;
    private static final long IOV_LENGTH = 8;
    private static final long IOV_BYTES = 16;
    private static final long CMSG_LEVEL = 8;
    private static final long CMSG_TYPE = 12;
    private static final long CMSG_DATA = 16;
    private static final long CRED_UID = 4;
    private static final long CRED_BYTES = 12;

    private static final LongAdder MESSAGES_SENT = new LongAdder();

    private final Descriptor descriptor;

    private UnixSocket(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * What came in one message.
     *
     * @param bytes       the bytes; empty at the end of the connection
     * @param descriptors the descriptors, close-on-exec, owned by whoever received them
     * @param end         whether the other side has closed
     */
    public record Message(byte[] bytes, List<Descriptor> descriptors, boolean end) implements AutoCloseable {
        @Override
        public void close() {
            descriptors.forEach(Descriptor::close);
        }
    }

    /** Who is at the other end, as the kernel says. */
    public record Credentials(int pid, int uid) {}

    /** {@return how many messages this process has sent over unix sockets so far} What steps among ranks cost is counted in these. */
    public static long messagesSent() {
        return MESSAGES_SENT.sum();
    }

    /** {@return the effective user of this process} */
    public static int ownUser() {
        return LibC.geteuid();
    }

    /** {@return a socket that waits for connections under a name} */
    public static UnixSocket listen(String name, int backlog) {
        return named(name, (socket, address, length) -> {
            LibC.bind(socket.fd(), address, length, "listening for peers on @" + name);
            LibC.listen(socket.fd(), backlog, "listening for peers on @" + name);
        });
    }

    /** {@return a connection to the socket that listens under a name} */
    public static UnixSocket connect(String name) {
        return named(name, (socket, address, length) -> LibC.connect(socket.fd(), address, length, "connecting to a peer on @" + name));
    }

    @FunctionalInterface
    private interface AddressUse {
        void use(UnixSocket socket, MemorySegment address, int addressBytes);
    }

    private static UnixSocket named(String name, AddressUse use) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > LONGEST_NAME) {
            throw new SymmetricMemoryException(ErrorCode.DESCRIPTOR_EXCHANGE,
                    "the socket name @" + name + " has " + bytes.length + " bytes; at most " + LONGEST_NAME + " are possible");
        }
        UnixSocket socket = new UnixSocket(new Descriptor(
                LibC.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, "making a unix socket"), "unix socket @" + name));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(SUN_BYTES, 8);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(bytes, 0, address, ValueLayout.JAVA_BYTE, SUN_NAME, bytes.length);
            use.use(socket, address, (int) SUN_NAME + bytes.length);
            return socket;
        } catch (RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** {@return the next connection, if one waits} */
    public Optional<UnixSocket> accept() {
        int fd = LibC.accept4(fd(), SOCK_NONBLOCK | SOCK_CLOEXEC, "accepting a peer");
        return fd < 0 ? Optional.empty() : Optional.of(new UnixSocket(new Descriptor(fd, "unix socket, accepted")));
    }

    /** {@return who is at the other end} */
    public Credentials peer() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment credentials = arena.allocate(CRED_BYTES, 4);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) CRED_BYTES);
            LibC.getsockopt(fd(), SOL_SOCKET, SO_PEERCRED, credentials, length, "asking who is at the other end of a unix socket");
            return new Credentials(credentials.get(ValueLayout.JAVA_INT, 0), credentials.get(ValueLayout.JAVA_INT, CRED_UID));
        }
    }

    /**
     * Sends one message with descriptors, which stay the caller's.
     *
     * @return whether it is sent; false if the socket takes none now
     */
    public boolean send(byte[] bytes, List<Integer> descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = message(arena, arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes), descriptors.size());
            if (!descriptors.isEmpty()) {
                MemorySegment control = message.get(ValueLayout.ADDRESS, MSG_CONTROL).reinterpret(controlBytes(descriptors.size()));
                control.set(ValueLayout.JAVA_LONG, 0, CMSG_DATA + 4L * descriptors.size());
                control.set(ValueLayout.JAVA_INT, CMSG_LEVEL, SOL_SOCKET);
                control.set(ValueLayout.JAVA_INT, CMSG_TYPE, SCM_RIGHTS);
                for (int i = 0; i < descriptors.size(); i++) {
                    control.set(ValueLayout.JAVA_INT, CMSG_DATA + 4L * i, descriptors.get(i));
                }
            }
            boolean sent = LibC.sendmsg(fd(), message, MSG_NOSIGNAL, "sending " + descriptors.size() + " descriptors to a peer") >= 0;
            if (sent) {
                MESSAGES_SENT.increment();
            }
            return sent;
        }
    }

    /**
     * Receives one message.
     *
     * @param bytes           takes the message; as long as the longest that is expected
     * @param mostDescriptors the most descriptors that are expected
     * @return the message, if one is there
     * @throws SymmetricMemoryException if it is longer, or descriptors of it were lost; none stays open
     */
    public Optional<Message> receive(MemorySegment bytes, int mostDescriptors) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = message(arena, bytes, mostDescriptors);
            int length = LibC.recvmsg(fd(), message, MSG_CMSG_CLOEXEC, "receiving from a peer");
            if (length < 0) {
                return Optional.empty();
            }
            Message received = new Message(bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), descriptorsIn(message), length == 0);
            int flags = message.get(ValueLayout.JAVA_INT, MSG_FLAGS);
            if ((flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) {
                received.close();
                throw (flags & MSG_CTRUNC) != 0
                        ? new SymmetricMemoryException(ErrorCode.RESOURCE_LIMIT,
                                "descriptors of a peer's message were lost, since this process may open no more: close what is not needed, or raise ulimit -n")
                        : new SymmetricMemoryException(ErrorCode.DESCRIPTOR_EXCHANGE,
                                "a peer's message is longer than the " + bytes.byteSize() + " bytes that were expected");
            }
            return Optional.of(received);
        }
    }

    private static MemorySegment message(Arena arena, MemorySegment bytes, int descriptors) {
        MemorySegment vector = arena.allocate(IOV_BYTES, 8);
        vector.set(ValueLayout.ADDRESS, 0, bytes);
        vector.set(ValueLayout.JAVA_LONG, IOV_LENGTH, bytes.byteSize());
        MemorySegment message = arena.allocate(MSG_BYTES, 8);
        message.set(ValueLayout.ADDRESS, MSG_IOV, vector);
        message.set(ValueLayout.JAVA_LONG, MSG_IOV_COUNT, 1);
        if (descriptors > 0) {
            message.set(ValueLayout.ADDRESS, MSG_CONTROL, arena.allocate(controlBytes(descriptors), 8));
            message.set(ValueLayout.JAVA_LONG, MSG_CONTROL_BYTES, controlBytes(descriptors));
        }
        return message;
    }

    private static long controlBytes(int descriptors) {
        return CMSG_DATA + Math.ceilDiv(4L * descriptors, 8) * 8;
    }

    private static List<Descriptor> descriptorsIn(MemorySegment message) {
        List<Descriptor> descriptors = new ArrayList<>();
        long controlBytes = message.get(ValueLayout.JAVA_LONG, MSG_CONTROL_BYTES);
        if (controlBytes < CMSG_DATA) {
            return descriptors;
        }
        MemorySegment control = message.get(ValueLayout.ADDRESS, MSG_CONTROL).reinterpret(controlBytes);
        long end = Math.min(control.get(ValueLayout.JAVA_LONG, 0), controlBytes);
        if (control.get(ValueLayout.JAVA_INT, CMSG_LEVEL) == SOL_SOCKET && control.get(ValueLayout.JAVA_INT, CMSG_TYPE) == SCM_RIGHTS) {
            for (long at = CMSG_DATA; at + 4 <= end; at += 4) {
                descriptors.add(new Descriptor(control.get(ValueLayout.JAVA_INT, at), "received from a peer"));
            }
        }
        return descriptors;
    }

    /** {@return the descriptor of the socket itself} */
    public int fd() {
        return descriptor.fd();
    }

    @Override
    public void close() {
        descriptor.close();
    }

    @Override
    public String toString() {
        return descriptor.toString();
    }
}
