package org.symmem.rendezvous;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.symmem.ErrorCode;
import org.symmem.ProcessGroup;
import org.symmem.RanksDisagreeException;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.spi.Agreement;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.Wire;

/**
 * Hands file descriptors among the ranks of one host. Opened once a group; each exchange then gives every rank every other
 * rank's descriptors. Used by one thread, except {@link #lostRanks()}.
 */
public abstract sealed class DescriptorExchange implements AutoCloseable permits SocketExchange, PidfdExchange {
    /** How descriptors are handed over; {@code symmem.descriptors} or {@code SYMMEM_DESCRIPTORS} chooses. */
    public enum Way {
        /** Over unix sockets, as ancillary data; needs one network namespace. */
        SOCKET("unix sockets (SCM_RIGHTS)"),
        /** Taken out of the peer's process; needs the right to trace it and Linux 5.6. */
        PIDFD("pidfd_getfd");

        private final String description;

        Way(String description) {
            this.description = description;
        }

        /** {@return the way in words} */
        public String describe() {
            return description;
        }

        /**
         * {@return the way that the settings of this process choose}
         *
         * @throws SymmetricMemoryException if the setting is wrong
         */
        public static Way configured() {
            String setting = Settings.value(Settings.DESCRIPTORS_PROPERTY, Settings.DESCRIPTORS_VARIABLE, System.getenv()).orElse("socket");
            return switch (setting) {
                case "socket" -> SOCKET;
                case "pidfd" -> PIDFD;
                default -> throw new SymmetricMemoryException(ErrorCode.SETTING, Settings.DESCRIPTORS_PROPERTY + " (or "
                        + Settings.DESCRIPTORS_VARIABLE + ") is \"" + setting + "\"; it is socket or pidfd");
            };
        }
    }

    /**
     * What one rank gave.
     *
     * @param note        its note
     * @param descriptors its descriptors, close-on-exec, owned by the receiver; none for this rank itself
     */
    public record Received(byte[] note, List<Descriptor> descriptors) implements AutoCloseable {
        @Override
        public void close() {
            descriptors.forEach(Descriptor::close);
        }
    }

    /**
     * Prepares the ranks of a group for exchanges. Collective.
     *
     * @param agreement with the ranks
     * @return the exchange; the caller closes it
     * @throws RanksDisagreeException on all ranks, if they are on different hosts or use different ways
     */
    public static DescriptorExchange open(Agreement agreement) {
        Way way = compareWays(agreement);
        return way == Way.SOCKET ? SocketExchange.among(agreement) : PidfdExchange.among(agreement);
    }

    private static Way compareWays(Agreement agreement) {
        record Place(Way way, String host, String bootId) {}
        List<Place> places = agreement.step("comparing hosts and ways to hand over descriptors", () -> {
            Way way = Way.configured();
            return Wire.write(out -> {
                out.writeUTF(way.name());
                out.writeUTF(HostIdentity.local().name());
                out.writeUTF(HostIdentity.local().bootId());
            });
        }).stream().map(message -> Wire.read(message, in -> new Place(Way.valueOf(in.readUTF()), in.readUTF(), in.readUTF()))).toList();
        if (places.stream().map(Place::bootId).distinct().count() > 1) {
            throw new RanksDisagreeException("ranks are on different hosts, between which descriptors cannot be handed over: "
                    + places.stream().map(place -> place.host() + " (" + place.bootId() + ")").collect(Collectors.joining(", "))
                    + ", in rank order. Use a group for each host");
        }
        if (places.stream().map(Place::way).distinct().count() > 1) {
            throw new RanksDisagreeException("ranks hand over descriptors in different ways: "
                    + places.stream().map(place -> place.way().name()).collect(Collectors.joining(", "))
                    + ", in rank order. Give all the same " + Settings.DESCRIPTORS_PROPERTY);
        }
        return places.getFirst().way();
    }

    /** What is done with what the ranks gave, while it is open. */
    @FunctionalInterface
    public interface Use {
        /**
         * @param received what each rank gave, in rank order; closed afterwards
         */
        void of(List<Received> received);
    }

    /**
     * Gives every rank what every rank gives, and lets each use it. Collective; every rank fails if one does, in handing over or
     * in using. Whatever was received is closed when this returns or throws.
     *
     * @param agreement with the ranks that the exchange was opened for
     * @param step      what the descriptors are used for, as a phrase, for instance {@code mapping the peers' memory}
     * @param own       makes this rank's descriptors, 16 at most; they stay this rank's. If it throws, all ranks fail
     * @param note      a few bytes that go with them, 4000 at most
     * @param use       runs on this rank as soon as it has all
     */
    public abstract void exchange(Agreement agreement, String step, Supplier<List<Descriptor>> own, byte[] note, Use use);

    /** {@return the ranks whose processes have ended, or which have closed the exchange} Local, any thread, only looks. */
    public abstract Set<Integer> lostRanks();

    /**
     * A group of the same ranks that meets by the shortest way that the exchange has.
     *
     * @param joined the group that the exchange was opened for
     * @return that group, or one over the exchange's own connections, which ends with it
     */
    public abstract ProcessGroup meetingGroup(ProcessGroup joined);

    /** {@return the way in words} */
    public abstract String describe();

    /** {@return ranks other than the own} */
    static Set<Integer> others(Agreement agreement) {
        Set<Integer> others = new LinkedHashSet<>();
        for (int rank = 0; rank < agreement.group().worldSize(); rank++) {
            if (rank != agreement.group().rank()) {
                others.add(rank);
            }
        }
        return others;
    }

    /** Ends the exchange; other ranks see this one as lost. Closing twice is fine. */
    @Override
    public abstract void close();
}
