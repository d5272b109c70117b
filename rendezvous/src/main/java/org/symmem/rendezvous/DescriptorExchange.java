package org.symmem.rendezvous;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.spi.Agreement;
import org.symmem.spi.Wire;

public final class DescriptorExchange implements AutoCloseable {
    public enum Way {
        PIDFD;

        public static Way configured() {
            return PIDFD;
        }

        public String describe() {
            return "pidfd_getfd";
        }
    }

    public record Received(byte[] note, List<Descriptor> descriptors) implements AutoCloseable {
        @Override
        public void close() {
            descriptors.forEach(Descriptor::close);
        }
    }

    public static DescriptorExchange open(Agreement agreement) {
        return new DescriptorExchange();
    }

    public List<Received> exchange(Agreement agreement, List<Descriptor> own, byte[] note) {
        record Offer(long pid, int[] fds, byte[] note) {}
        List<Offer> offers = agreement.step("announcing descriptors", () -> Wire.write(out -> {
            out.writeLong(ProcessHandle.current().pid());
            out.writeInt(own.size());
            for (Descriptor d : own) {
                out.writeInt(d.fd());
            }
            out.write(note);
        })).stream().map(m -> Wire.read(m, in -> {
            long pid = in.readLong();
            int[] fds = new int[in.readInt()];
            for (int i = 0; i < fds.length; i++) {
                fds[i] = in.readInt();
            }
            return new Offer(pid, fds, in.readAllBytes());
        })).toList();
        List<Received> received = new ArrayList<>();
        {
            agreement.check("fetching descriptors", () -> {
                for (int r = 0; r < offers.size(); r++) {
                    List<Descriptor> got = new ArrayList<>();
                    if (r != agreement.group().rank()) {
                        try (Descriptor process = LibC.pidfdOpen(offers.get(r).pid(), "process of rank " + r)) {
                            for (int fd : offers.get(r).fds()) {
                                got.add(LibC.pidfdGetfd(process.fd(), fd, "descriptor of rank " + r));
                            }
                        }
                    }
                    received.add(new Received(offers.get(r).note(), got));
                }
            });
        }
        return received;
    }

    public Set<Integer> lostRanks() {
        return Set.of();
    }

    public String describe() {
        return "pidfd_getfd";
    }

    @Override
    public void close() {}
}
