package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.symmem.CollectiveFailedException;
import org.symmem.ProcessGroup;
import org.symmem.RanksDisagreeException;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.linux.UnixSocket;
import org.symmem.spi.Agreement;

@Timeout(40)
class DescriptorExchangeTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @AfterEach
    void forgetTheWay() {
        System.clearProperty(Settings.DESCRIPTORS_PROPERTY);
    }

    private static Agreement agreement(ProcessGroup group, Duration timeout) {
        return new Agreement(group, "exchange", "rank " + group.rank(), () -> "no device", timeout);
    }

    private static Descriptor memfd(int size) {
        Descriptor memfd = LibC.memfdCreate("symmem-test", LibC.MFD_CLOEXEC | LibC.MFD_ALLOW_SEALING, "testing");
        LibC.ftruncate(memfd.fd(), size, "testing");
        return memfd;
    }

    private static long openDescriptors() throws Exception {
        try (var list = Files.list(Path.of("/proc/self/fd"))) {
            return list.count();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"socket", "pidfd"})
    void everyRankGetsEveryOthersDescriptorsAgainAndAgainAndNoneIsLeft(String way) throws Exception {
        System.setProperty(Settings.DESCRIPTORS_PROPERTY, way);
        ThreadRanks.run(3, new InMemoryStore(), "warm-up", SOON, group -> exchangeOften(group, 2));
        long before = openDescriptors();
        ThreadRanks.run(3, new InMemoryStore(), "g", SOON, group -> exchangeOften(group, 200));
        assertThat(openDescriptors()).isLessThanOrEqualTo(before + 2);
    }

    private static Object exchangeOften(ProcessGroup group, int times) {
        try (DescriptorExchange exchange = DescriptorExchange.open(agreement(group, SOON))) {
            for (int i = 0; i < times; i++) {
                try (Descriptor own = memfd(1000 + group.rank())) {
                    exchange.exchange(agreement(group, SOON), "testing", () -> List.of(own), new byte[]{(byte) group.rank()}, all -> {
                        for (int r = 0; r < 3; r++) {
                            assertThat(all.get(r).note()).containsExactly(r);
                            assertThat(all.get(r).descriptors()).hasSize(r == group.rank() ? 0 : 1);
                            for (Descriptor descriptor : all.get(r).descriptors()) {
                                assertThat(LibC.fileSize(descriptor.fd(), "testing")).isEqualTo(1000 + r);
                            }
                        }
                    });
                }
            }
            assertThat(exchange.lostRanks()).isEmpty();
            group.allGather("looked", new byte[0], SOON);
        }
        return null;
    }

    @Test
    void strangersAreTurnedAwayAndDisturbNobody() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        Thread strangers = Thread.ofPlatform().daemon().start(() -> bother(done));
        try {
            for (int i = 0; i < 5; i++) {
                ThreadRanks.run(2, new InMemoryStore(), "g" + i, SOON, group -> {
                    try (DescriptorExchange exchange = DescriptorExchange.open(agreement(group, SOON)); Descriptor own = memfd(1)) {
                        exchange.exchange(agreement(group, SOON), "testing", () -> List.of(own), new byte[0],
                                all -> assertThat(all).hasSize(group.worldSize()));
                    }
                    return null;
                });
            }
        } finally {
            done.countDown();
            strangers.join();
        }
    }

    /** Connects to every descriptor socket that can be found, says wrong things or nothing, and stays. */
    private static void bother(CountDownLatch done) {
        List<UnixSocket> connections = new ArrayList<>();
        while (done.getCount() > 0) {
            try {
                for (String line : Files.readAllLines(Path.of("/proc/net/unix"))) {
                    if (line.contains("@symmem-") && connections.size() < 500) {
                        UnixSocket socket = UnixSocket.connect(line.substring(line.indexOf('@') + 1));
                        connections.add(socket);
                        switch (connections.size() % 3) {
                            case 0 -> socket.send("garbage".getBytes(java.nio.charset.StandardCharsets.US_ASCII), List.of());
                            case 1 ->
                                socket.send(new HandleMessage(HandleMessage.HELLO, 0, 0, new byte[HandleMessage.SECRET_BYTES]).toBytes(),
                                        List.of());
                            default -> {
                            }
                        }
                    }
                }
            } catch (Exception e) {
                // The socket has gone meanwhile: the next look finds others.
                Thread.onSpinWait();
            }
        }
        connections.forEach(UnixSocket::close);
    }

    @Test
    void aRankThatCannotGiveItsDescriptorsFailsAllAtOnce() throws Exception {
        ThreadRanks.run(3, new InMemoryStore(), "g", SOON, group -> {
            try (DescriptorExchange exchange = DescriptorExchange.open(agreement(group, SOON)); Descriptor own = memfd(1)) {
                Descriptor given = group.rank() == 1 ? Descriptor.borrowed(999_999) : own;
                long start = System.nanoTime();
                assertThatThrownBy(() -> exchange.exchange(agreement(group, SOON), "testing", () -> List.of(given), new byte[0], all -> {}))
                        .isInstanceOf(CollectiveFailedException.class)
                        .hasMessageContaining("rank 1 on host")
                        .hasMessageContaining("EBADF");
                assertThat(System.nanoTime() - start).isLessThan(SOON.toNanos() / 2);
                exchange.exchange(agreement(group, SOON), "testing", () -> List.of(own), new byte[0],
                        all -> assertThat(all).hasSize(group.worldSize()));
            }
            return null;
        });
    }

    @Test
    void ranksThatUseDifferentWaysAllGetAnError() throws Exception {
        System.setProperty(Settings.DESCRIPTORS_PROPERTY, "carrier-pigeon");
        ThreadRanks.run(2, new InMemoryStore(), "g", SOON, group -> {
            assertThatThrownBy(() -> DescriptorExchange.open(agreement(group, SOON))).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContaining("carrier-pigeon")
                    .hasMessageContaining("socket or pidfd");
            return null;
        });
        assertThat(new RanksDisagreeException("x").code().id()).isEqualTo("SM-E-GROUP-3");
    }

    @Test
    void sixtyFourRanksExchange() throws Exception {
        ThreadRanks.run(64, new InMemoryStore(), "g", Duration.ofSeconds(30), group -> {
            try (DescriptorExchange exchange = DescriptorExchange.open(agreement(group, Duration.ofSeconds(30)));
                    Descriptor own = memfd(group.rank() + 1)) {
                exchange.exchange(agreement(group, Duration.ofSeconds(30)), "testing", () -> List.of(own), new byte[0],
                        all -> assertThat(IntStream.range(0, 64)
                                .filter(r -> r != group.rank())
                                .allMatch(r -> LibC.fileSize(all.get(r).descriptors().getFirst().fd(), "testing") == r + 1)).isTrue());
                group.allGather("done", new byte[0], Duration.ofSeconds(30));
            }
            return null;
        });
    }

    @Test
    void messagesStayAsPublished() {
        byte[] bytes = new HandleMessage(HandleMessage.HANDLES, 3, 7, new byte[]{9}).toBytes();
        assertThat(bytes).containsExactly('S', 'M', 'F', 'D', 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9);
        assertThat(HandleMessage.from(bytes).body()).containsExactly(9);
        assertThatThrownBy(() -> HandleMessage.from(new byte[23])).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aNameThatIsTooLongIsSaid() {
        assertThatThrownBy(() -> UnixSocket.connect("x".repeat(108))).isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining("107");
    }
}
