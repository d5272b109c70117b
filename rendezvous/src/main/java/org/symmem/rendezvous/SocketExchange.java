package org.symmem.rendezvous;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;
import org.symmem.ProcessGroup;
import org.symmem.RankLostException;
import org.symmem.RanksDisagreeException;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.linux.Poll;
import org.symmem.linux.UnixSocket;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.Wire;

/**
 * Hands descriptors over unix sockets, one connection for each pair of ranks, kept as long as the group's memory: each later
 * exchange is one message each way, and a connection that ends tells at once that the peer's process has.
 *
 * <p>Only processes of the same user that know the job's secret, which goes through the store, are let in; whoever else connects
 * is dropped and disturbs nobody.
 */
final class SocketExchange extends DescriptorExchange {
    private static final System.Logger LOG = System.getLogger("org.symmem.rendezvous");
    /** How long a connection may take to say who it is. A peer says it as soon as it runs, which took seconds on a machine with a load of 60. */
    private static final long HELLO_NANOS = 20_000_000_000L;
    /** How often a rank looks for its peers' messages before it sleeps: most come sooner than a sleeper is woken. */
    private static final int LOOKS = 20;

    private final int rank;
    private final Map<Integer, UnixSocket> peers;
    private final MemorySegment buffer = Arena.ofAuto().allocate(HandleMessage.MOST_BYTES);
    private long swaps;

    private SocketExchange(int rank, Map<Integer, UnixSocket> peers) {
        this.rank = rank;
        this.peers = peers;
    }

    static SocketExchange among(Agreement agreement) {
        SecureRandom random = new SecureRandom();
        byte[] ownName = new byte[16];
        byte[] ownSecret = new byte[HandleMessage.SECRET_BYTES];
        random.nextBytes(ownName);
        random.nextBytes(ownSecret);
        String name = "symmem-" + HexFormat.of().formatHex(ownName);
        Map<Integer, UnixSocket> peers = new TreeMap<>();
        Closers begun = new Closers();
        try (Closers listening = new Closers()) {
            begun.add(() -> peers.values().forEach(UnixSocket::close));
            UnixSocket[] listener = new UnixSocket[1];
            List<byte[]> announced = agreement.step("announcing the socket for descriptors", () -> {
                listener[0] = listening.add(UnixSocket.listen(name, 4096));
                return Wire.write(out -> {
                    out.writeUTF(name);
                    out.write(ownSecret);
                });
            });
            List<String> names = announced.stream().map(message -> Wire.read(message, in -> in.readUTF())).toList();
            // Rank 0's is the job's.
            byte[] secret = Wire.read(announced.getFirst(), in -> {
                in.readUTF();
                return in.readNBytes(HandleMessage.SECRET_BYTES);
            });
            agreement.check("connecting to the peers", () -> new Meeting(agreement, listener[0], secret, peers).meet(names));
            return new SocketExchange(agreement.group().rank(), peers);
        } catch (Throwable e) {
            begun.closeBecauseOf(e);
            throw e;
        }
    }

    /** How the connections come about: a rank connects to those above it, and accepts those below it. */
    private record Meeting(Agreement agreement, UnixSocket listener, byte[] secret, Map<Integer, UnixSocket> peers) {
        /** Somebody who has connected and has not said yet who it is. */
        private record Stranger(UnixSocket socket, long since) {}

        void meet(List<String> names) {
            long deadline = System.nanoTime() + agreement.timeout().toNanos();
            int rank = agreement.group().rank();
            byte[] hello = new HandleMessage(HandleMessage.HELLO, rank, 0, secret).toBytes();
            for (int above = rank + 1; above < names.size(); above++) {
                UnixSocket socket = connect(names.get(above), deadline);
                peers.put(above, socket);
                checkUser(socket, "rank " + above);
                socket.send(hello, List.of());
            }
            List<Stranger> strangers = new ArrayList<>();
            try {
                while (peers.size() < names.size() - 1) {
                    Set<Integer> missing = others(agreement);
                    missing.removeAll(peers.keySet());
                    long leftNanos = deadline - System.nanoTime();
                    if (leftNanos <= 0) {
                        throw new DeadlineException(
                                ErrorCode.RANK_MISSING, "ranks " + missing + " did not connect to hand over descriptors within "
                                        + agreement.timeout().toMillis() + " ms; are they in this network namespace?",
                                List.copyOf(missing));
                    }
                    List<Integer> descriptors = new ArrayList<>(strangers.stream().map(stranger -> stranger.socket().fd()).toList());
                    descriptors.add(listener.fd());
                    Poll.readable(descriptors, Math.min(leftNanos, HELLO_NANOS / 40));
                    for (Optional<UnixSocket> next = listener.accept(); next.isPresent(); next = listener.accept()) {
                        strangers.add(new Stranger(next.get(), System.nanoTime()));
                    }
                    hearStrangers(strangers);
                }
            } finally {
                strangers.forEach(stranger -> stranger.socket().close());
            }
        }

        private static UnixSocket connect(String name, long deadline) {
            while (true) {
                try {
                    return UnixSocket.connect(name);
                } catch (NativeCallException e) {
                    // The peer's queue of connections is full for the moment.
                    if (!e.codeName().equals("EAGAIN") || System.nanoTime() >= deadline) {
                        throw e;
                    }
                    LockSupport.parkNanos(1_000_000);
                }
            }
        }

        private void hearStrangers(List<Stranger> strangers) {
            MemorySegment hello = Arena.ofAuto().allocate(HandleMessage.BODY_OFFSET + HandleMessage.SECRET_BYTES);
            for (Iterator<Stranger> all = strangers.iterator(); all.hasNext();) {
                Stranger stranger = all.next();
                try {
                    Optional<UnixSocket.Message> message = stranger.socket().receive(hello, 0);
                    if (message.isPresent()) {
                        peers.put(senderOf(message.get(), stranger.socket()), stranger.socket());
                        all.remove();
                    } else if (System.nanoTime() - stranger.since() > HELLO_NANOS) {
                        throw new IllegalArgumentException("it said nothing");
                    }
                } catch (IllegalArgumentException | SymmetricMemoryException e) {
                    LOG.log(Level.WARNING, "rank {0} turns a connection away from its descriptor socket: {1}", agreement.group().rank(),
                            e.getMessage());
                    stranger.socket().close();
                    all.remove();
                }
            }
        }

        private int senderOf(UnixSocket.Message message, UnixSocket socket) {
            HandleMessage hello = HandleMessage.from(message.bytes());
            checkUser(socket, "the process that connected");
            if (hello.kind() != HandleMessage.HELLO || !MessageDigest.isEqual(hello.body(), secret)) {
                throw new IllegalArgumentException("it does not know the job's secret");
            }
            if (hello.sender() < 0 || hello.sender() >= agreement.group().rank() || peers.containsKey(hello.sender())) {
                throw new IllegalArgumentException("it says it is rank " + hello.sender() + ", which is not awaited");
            }
            return hello.sender();
        }

        private static void checkUser(UnixSocket socket, String who) {
            UnixSocket.Credentials credentials = socket.peer();
            if (credentials.uid() != UnixSocket.ownUser()) {
                throw new IllegalArgumentException(who + " (process " + credentials.pid() + ") belongs to user " + credentials.uid()
                        + ", this one to user " + UnixSocket.ownUser() + "; all ranks must be of one user");
            }
        }
    }

    @Override
    public void exchange(Agreement agreement, String step, Supplier<List<Descriptor>> own, byte[] note, Use use) {
        long sequence = swaps++;
        Map<Integer, Received> byRank = new TreeMap<>();
        byRank.put(rank, new Received(note, List.of()));
        try {
            agreement.check("handing over descriptors and " + step, () -> {
                handOver(sequence, own, note, agreement.timeout(), byRank);
                use.of(List.copyOf(byRank.values()));
            });
        } finally {
            byRank.values().forEach(Received::close);
        }
    }

    private void handOver(long sequence, Supplier<List<Descriptor>> own, byte[] note, Duration timeout, Map<Integer, Received> byRank) {
        Set<Integer> notTold = new TreeSet<>(peers.keySet());
        try {
            List<Integer> descriptors = own.get().stream().map(Descriptor::fd).toList();
            swap(new HandleMessage(HandleMessage.HANDLES, rank, sequence, note), descriptors, timeout, notTold, byRank);
        } catch (RuntimeException e) {
            // Those who wait for this rank's handles must not wait in vain until the deadline.
            byte[] failed = new HandleMessage(HandleMessage.FAILED, rank, sequence, new byte[0]).toBytes();
            for (int peer : notTold) {
                try {
                    peers.get(peer).send(failed, List.of());
                } catch (RuntimeException more) {
                    e.addSuppressed(more);
                }
            }
            throw e;
        }
    }

    /**
     * Sends one message to every peer and receives one of the same kind and number from each.
     *
     * @param toSend whom it is still to be sent to; empty afterwards
     * @param byRank takes what comes, also if this throws
     */
    private void swap(HandleMessage own, List<Integer> descriptors, Duration timeout, Set<Integer> toSend, Map<Integer, Received> byRank) {
        long deadline = System.nanoTime() + timeout.toNanos();
        byte[] message = own.toBytes();
        Set<Integer> toReceive = new TreeSet<>(peers.keySet());
        for (int looks = 0; !toSend.isEmpty() || !toReceive.isEmpty(); looks++) {
            toSend.removeIf(peer -> sendTo(peer, message, descriptors));
            toReceive.removeIf(peer -> receiveFrom(peer, own, byRank));
            if (looks < LOOKS) {
                Thread.yield();
            } else if (!toSend.isEmpty() || !toReceive.isEmpty()) {
                awaitPeers(toSend, toReceive, deadline, timeout);
            }
        }
    }

    private boolean sendTo(int peer, byte[] message, List<Integer> descriptors) {
        try {
            return peers.get(peer).send(message, descriptors);
        } catch (NativeCallException e) {
            if (e.codeName().equals("EPIPE") || e.codeName().equals("ECONNRESET")) {
                throw lost(peer);
            }
            throw e;
        }
    }

    private boolean receiveFrom(int peer, HandleMessage own, Map<Integer, Received> byRank) {
        while (true) {
            Optional<UnixSocket.Message> next = peers.get(peer).receive(buffer, HandleMessage.MOST_DESCRIPTORS);
            if (next.isEmpty()) {
                return false;
            }
            UnixSocket.Message message = next.get();
            try {
                if (message.end()) {
                    throw lost(peer);
                }
                HandleMessage theirs = HandleMessage.from(message.bytes());
                if (theirs.sequence() < own.sequence()) {
                    // Of an exchange that failed after the peer had sent.
                    message.close();
                    continue;
                }
                requireSame(peer, own, theirs);
                byRank.put(peer, new Received(theirs.body(), message.descriptors()));
                return true;
            } catch (RuntimeException e) {
                message.close();
                throw e;
            }
        }
    }

    private static void requireSame(int peer, HandleMessage own, HandleMessage theirs) {
        if (theirs.kind() == HandleMessage.FAILED) {
            throw new SymmetricMemoryException(ErrorCode.DESCRIPTOR_EXCHANGE, "rank " + peer + " could not hand over its descriptors");
        }
        if (theirs.kind() != own.kind() || theirs.sequence() != own.sequence() || theirs.sender() != peer) {
            throw new RanksDisagreeException("ranks are at different steps: rank " + peer + " at exchange " + theirs.sequence()
                    + " of kind " + theirs.kind() + ", this rank at " + own.sequence() + " of kind " + own.kind()
                    + ". Every rank must make the same collective calls in the same order");
        }
    }

    private void awaitPeers(Set<Integer> toSend, Set<Integer> toReceive, long deadline, Duration timeout) {
        long leftNanos = deadline - System.nanoTime();
        if (leftNanos <= 0) {
            Set<Integer> late = new TreeSet<>(toSend);
            late.addAll(toReceive);
            throw new DeadlineException(ErrorCode.RANK_MISSING,
                    "ranks " + late + " did not come within " + timeout.toMillis() + " ms; this is rank " + rank + "/" + (peers.size() + 1)
                            + " on host "
                            + HostIdentity.local().name() + ". Check that these ranks run and reach this step, or allow more time ("
                            + Settings.TIMEOUT_PROPERTY + ", in seconds)",
                    List.copyOf(late));
        }
        if (toReceive.isEmpty()) {
            Poll.writable(toSend.stream().map(peer -> peers.get(peer).fd()).toList(), leftNanos);
        } else {
            Poll.readable(toReceive.stream().map(peer -> peers.get(peer).fd()).toList(), toSend.isEmpty() ? leftNanos : 1_000_000);
        }
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return new DelegatingProcessGroup(joined) {
            @Override
            public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
                Contribution own = new Contribution(step, worldSize(), contribution);
                Map<Integer, Received> byRank = new TreeMap<>();
                byRank.put(rank, new Received(own.toBytes(), List.of()));
                try {
                    swap(new HandleMessage(HandleMessage.GATHER, rank, swaps++, own.toBytes()), List.of(), timeout,
                            new TreeSet<>(peers.keySet()), byRank);
                } catch (DeadlineException e) {
                    throw new DeadlineException(e.code(), step + ": " + e.getMessage(), e.missingRanks());
                }
                return Contribution.ofOneStep(name(),
                        byRank.values().stream().map(received -> Contribution.from(received.note())).toList());
            }
        };
    }

    private static RankLostException lost(int peer) {
        return new RankLostException(peer,
                "rank " + peer + " has ended, or closed its symmetric memory, while this rank waited for it; see that rank's output");
    }

    @Override
    public Set<Integer> lostRanks() {
        // Closing frees the descriptors that are looked at here.
        synchronized (peers) {
            List<Integer> ranks = List.copyOf(peers.keySet());
            return Poll.ended(ranks.stream().map(peer -> peers.get(peer).fd()).toList())
                    .stream()
                    .map(ranks::get)
                    .collect(Collectors.toCollection(HashSet::new));
        }
    }

    @Override
    public String describe() {
        return Way.SOCKET.describe();
    }

    @Override
    public void close() {
        synchronized (peers) {
            peers.values().forEach(UnixSocket::close);
            peers.clear();
        }
    }
}
