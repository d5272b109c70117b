package org.symmem.rendezvous;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.symmem.ErrorCode;
import org.symmem.NativeCallException;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.linux.Poll;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;
import org.symmem.spi.Wire;

/** Takes descriptors out of the peers' processes. A descriptor of the peer's process is kept, and tells when the process ends. */
final class PidfdExchange extends DescriptorExchange {
    private final Map<Integer, Descriptor> processes;
    private final Closers closers;

    private PidfdExchange(Map<Integer, Descriptor> processes, Closers closers) {
        this.processes = processes;
        this.closers = closers;
    }

    static PidfdExchange among(Agreement agreement) {
        List<Long> pids = agreement.step("announcing processes", () -> Wire.write(out -> out.writeLong(ProcessHandle.current().pid())))
                .stream()
                .map(message -> Wire.read(message, in -> in.readLong()))
                .toList();
        Closers closers = new Closers();
        Map<Integer, Descriptor> processes = new HashMap<>();
        try {
            agreement.check("opening the peers' processes", () -> {
                for (int peer : others(agreement)) {
                    processes.put(peer,
                            closers.add(LibC.pidfdOpen(pids.get(peer), "opening process " + pids.get(peer) + " of rank " + peer)));
                }
            });
            return new PidfdExchange(processes, closers);
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    /** One rank's descriptor numbers, with what tells whether a number still stands for the same file. */
    private record Offer(int[] numbers, String[] files, byte[] note) {}

    @Override
    public void exchange(Agreement agreement, String step, Supplier<List<Descriptor>> own, byte[] note, Use use) {
        List<Offer> offers = agreement.step("announcing descriptors", () -> offerOf(own.get(), note))
                .stream()
                .map(message -> Wire.read(message, PidfdExchange::offer))
                .toList();
        List<Received> received = new ArrayList<>();
        try {
            // The step ends on all ranks at once, so nobody closes what another has not fetched yet.
            agreement.check("fetching descriptors and " + step, () -> {
                try {
                    for (int rank = 0; rank < offers.size(); rank++) {
                        fetchAll(rank, offers.get(rank), rank == agreement.group().rank(), received);
                    }
                    use.of(received);
                } catch (RuntimeException e) {
                    // Before the failure is told, which may itself need a descriptor.
                    received.forEach(Received::close);
                    throw e;
                }
            });
        } finally {
            received.forEach(Received::close);
        }
    }

    private void fetchAll(int rank, Offer offer, boolean own, List<Received> received) {
        List<Descriptor> fetched = new ArrayList<>();
        received.add(new Received(offer.note(), fetched));
        for (int i = 0; i < offer.numbers().length && !own; i++) {
            fetched.add(fetch(rank, offer.numbers()[i]));
            if (!fileBehind(fetched.getLast().fd()).equals(offer.files()[i])) {
                throw new SymmetricMemoryException(ErrorCode.DESCRIPTOR_EXCHANGE, "descriptor " + offer.numbers()[i] + " of rank " + rank
                        + " is not the file any more that it was when it was announced");
            }
        }
    }

    private static byte[] offerOf(List<Descriptor> own, byte[] note) {
        return Wire.write(out -> {
            out.writeInt(own.size());
            for (Descriptor descriptor : own) {
                out.writeInt(descriptor.fd());
                out.writeUTF(fileBehind(descriptor.fd()));
            }
            out.write(note);
        });
    }

    private static Offer offer(java.io.DataInputStream in) throws IOException {
        int number = in.readInt();
        int[] numbers = new int[number];
        String[] files = new String[number];
        for (int i = 0; i < number; i++) {
            numbers[i] = in.readInt();
            files[i] = in.readUTF();
        }
        return new Offer(numbers, files, in.readAllBytes());
    }

    private Descriptor fetch(int rank, int number) {
        try {
            return LibC.pidfdGetfd(processes.get(rank).fd(), number, "fetching descriptor " + number + " of rank " + rank);
        } catch (NativeCallException e) {
            if (e.codeName().equals("EPERM")) {
                throw new SymmetricMemoryException(ErrorCode.DESCRIPTOR_EXCHANGE,
                        "descriptors of rank " + rank
                                + " may not be fetched: kernel.yama.ptrace_scope or the container's seccomp profile forbids it. Use "
                                + Settings.DESCRIPTORS_PROPERTY + "=socket",
                        e);
            }
            throw e;
        }
    }

    private static String fileBehind(int fd) {
        try {
            Map<String, Object> file = Files.readAttributes(Path.of("/proc/self/fd/" + fd), "unix:dev,ino");
            return file.get("dev") + ":" + file.get("ino");
        } catch (IOException e) {
            throw new SymmetricMemoryException(ErrorCode.DESCRIPTOR_EXCHANGE,
                    "descriptor " + fd + " cannot be looked at: " + e.getMessage(), e);
        }
    }

    @Override
    public synchronized Set<Integer> lostRanks() {
        List<Integer> ranks = List.copyOf(processes.keySet());
        // A process's descriptor becomes readable when the process ends (pidfd_open(2)).
        return Poll.readable(ranks.stream().map(rank -> processes.get(rank).fd()).toList(), 0)
                .stream()
                .map(ranks::get)
                .collect(Collectors.toSet());
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return joined;
    }

    @Override
    public String describe() {
        return Way.PIDFD.describe();
    }

    @Override
    public synchronized void close() {
        processes.clear();
        closers.close();
    }
}
