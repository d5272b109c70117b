package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AfterContainer;

/**
 * A million inputs, in memory, to whatever reads bytes of others: the store's server with all that it does for a connection, and the
 * messages of the descriptor socket. Whatever comes, the answer is one of the errors that the protocol has, nothing is held
 * afterwards, and nothing is taken that has not arrived. jqwik prints the seed and the input that fails.
 */
class FuzzTest {
    private static final int OF_THE_STORE = 600_000;
    private static final int OF_MESSAGES = 250_000;
    private static final int OF_CONTRIBUTIONS = 150_000;
    private static final StoreLimits LIMITS = new StoreLimits(40, 200, 8, 1500, 60, 8_000, 10, Duration.ofSeconds(5));
    private static final StoreToken TOKEN = StoreToken.of("a token of these tests");
    private static final AtomicLong INPUTS = new AtomicLong();
    private static final AtomicLong SERVED = new AtomicLong();

    /** Small, so that most inputs and answers need several turns. */
    private final StoreConnection.Buffers buffers = new StoreConnection.Buffers(ByteBuffer.allocate(64), ByteBuffer.allocate(32));

    @Provide
    Arbitrary<byte[]> requests() {
        return Arbitraries.randomValue(FuzzTest::requests);
    }

    @Provide
    Arbitrary<byte[]> messages() {
        return Arbitraries.randomValue(FuzzTest::message);
    }

    @Provide
    Arbitrary<byte[]> contributions() {
        return Arbitraries.randomValue(FuzzTest::contribution);
    }

    /** Shared by all inputs, so that the store fills up, and later inputs find what earlier ones left. */
    private static final StoreContents CONTENTS = new StoreContents(LIMITS);
    private static final StoreContents CONTENTS_WITH_TOKEN = new StoreContents(LIMITS);

    @Property(tries = OF_THE_STORE, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
    void theStoreServesOrRefusesWhateverComesAndHoldsNothingAfterwards(@ForAll("requests") byte[] input) throws IOException {
        INPUTS.incrementAndGet();
        boolean secret = (input.length & 7) == 0;
        StoreContents contents = secret ? CONTENTS_WITH_TOKEN : CONTENTS;
        FakeChannel channel = new FakeChannel();
        SelectionKey key = channel.key();
        StoreConnection connection = new StoreConnection(channel, key, contents, LIMITS,
                secret ? Optional.of(TOKEN) : Optional.empty(), buffers);
        int pieces = 1 + (input.length == 0 ? 0 : input[input.length - 1] & 3);
        try {
            for (int piece = 0; piece < pieces; piece++) {
                int from = input.length * piece / pieces;
                channel.put(input, from, input.length * (piece + 1) / pieces - from);
                int turns = 0;
                while (key.interestOps() == SelectionKey.OP_WRITE || !channel.isEmpty()) {
                    assertThat(turns++).as("turns").isLessThan(10_000);
                    if (key.interestOps() == SelectionKey.OP_WRITE) {
                        connection.resume();
                    } else {
                        connection.read();
                    }
                }
            }
        } catch (StoreRequest.Violation e) {
            assertThat(e.getMessage()).isNotBlank();
        }
        if (channel.answered() > 0) {
            SERVED.incrementAndGet();
        }
        connection.close();
        assertThat(contents.nothingUnderWay()).isTrue();
        assertThat(contents.size()).isLessThanOrEqualTo(LIMITS.keys());
        if (secret) {
            assertThat(contents.size()).as("keys stored without the token").isZero();
        }
    }

    @Property(tries = OF_MESSAGES, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
    void aMessageOfTheDescriptorSocketIsReadAsItWasWrittenOrRefused(@ForAll("messages") byte[] input) {
        INPUTS.incrementAndGet();
        HandleMessage message;
        try {
            message = HandleMessage.from(input);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("no message of this protocol");
            return;
        }
        assertThat(message.toBytes()).isEqualTo(input);
        SERVED.incrementAndGet();
    }

    @Property(tries = OF_CONTRIBUTIONS, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
    void aContributionOfAPeerIsReadOrRefused(@ForAll("contributions") byte[] input) {
        INPUTS.incrementAndGet();
        try {
            Contribution read = Contribution.from(input);
            assertThat(read.bytes().length + 2 + read.missed().size() * 4).isLessThanOrEqualTo(input.length);
            SERVED.incrementAndGet();
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
    }

    @AfterContainer
    static void count() {
        System.out.println("fuzz tests: " + INPUTS + " inputs, " + SERVED + " of them served");
        assertThat(INPUTS.get()).isGreaterThanOrEqualTo(OF_THE_STORE + OF_MESSAGES + OF_CONTRIBUTIONS);
        assertThat(SERVED.get()).as("inputs that came further than the first check").isGreaterThan(INPUTS.get() / 10);
    }

    /** Requests with a mistake here and there, for noise alone comes no further than its first byte. */
    private static byte[] requests(Random random) {
        ByteBuffer out = ByteBuffer.allocate(2048).order(ByteOrder.LITTLE_ENDIAN);
        if (random.nextInt(20) != 0) {
            out.put(StoreProtocol.VALIDATE).putInt(random.nextInt(20) == 0 ? random.nextInt() : StoreProtocol.MAGIC);
        }
        for (int requests = random.nextInt(6); requests > 0; requests--) {
            request(random, out);
        }
        for (int noise = random.nextInt(4) == 0 ? random.nextInt(30) : 0; noise > 0; noise--) {
            out.put((byte) random.nextInt());
        }
        byte[] bytes = new byte[random.nextInt(8) == 0 ? random.nextInt(out.position() + 1) : out.position()];
        out.flip().get(bytes);
        if (bytes.length > 0 && random.nextInt(3) == 0) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return bytes;
    }

    private static void request(Random random, ByteBuffer out) {
        byte opcode = random.nextInt(30) == 0 ? StoreProtocol.AUTHENTICATE : (byte) random.nextInt(14);
        out.put(opcode);
        switch (opcode) {
            case StoreProtocol.VALIDATE, StoreProtocol.PING -> out.putInt(random.nextInt());
            case StoreProtocol.SET, StoreProtocol.APPEND -> string(random, string(random, out, 4), 60);
            case StoreProtocol.COMPARE_SET -> string(random, string(random, string(random, out, 4), 2), 60);
            case StoreProtocol.GET, StoreProtocol.DELETE_KEY -> string(random, out, 4);
            case StoreProtocol.ADD -> string(random, out, 4).putLong(random.nextLong());
            case StoreProtocol.AUTHENTICATE -> string(random, out, 33);
            case StoreProtocol.CHECK, StoreProtocol.WAIT, StoreProtocol.MULTI_GET, StoreProtocol.MULTI_SET -> {
                int count = random.nextInt(9);
                out.putLong(length(random, count));
                for (int i = 0; i < count; i++) {
                    string(random, out, 4);
                    if (opcode == StoreProtocol.MULTI_SET) {
                        string(random, out, 20);
                    }
                }
            }
            default -> {
            }
        }
    }

    /** Few different letters, so that keys meet again. */
    private static ByteBuffer string(Random random, ByteBuffer out, int most) {
        int length = random.nextInt(most + 1);
        out.putLong(length(random, length));
        for (int i = 0; i < length; i++) {
            out.put((byte) ('0' + random.nextInt(3)));
        }
        return out;
    }

    /** The true length, or sometimes one that is not. */
    private static long length(Random random, int length) {
        return switch (random.nextInt(60)) {
            case 0 -> random.nextLong();
            case 1 -> length + random.nextInt(5) - 2;
            case 2 -> 1L << random.nextInt(64);
            default -> length;
        };
    }

    private static byte[] message(Random random) {
        byte[] body = new byte[random.nextInt(100)];
        random.nextBytes(body);
        byte[] bytes = new HandleMessage(random.nextInt(6), random.nextInt(), random.nextLong(), body).toBytes();
        return mutated(random, bytes);
    }

    private static byte[] contribution(Random random) {
        byte[] body = new byte[random.nextInt(60)];
        random.nextBytes(body);
        Contribution whole = new Contribution("step " + random.nextInt(10), random.nextInt(), body);
        byte[] bytes = (random.nextBoolean() ? whole : whole.withdrawn(java.util.List.of(1, 2, 3))).toBytes();
        return mutated(random, bytes);
    }

    private static byte[] mutated(Random random, byte[] bytes) {
        for (int changes = random.nextInt(3); changes > 0; changes--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return switch (random.nextInt(10)) {
            case 0 -> java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            case 1 -> "GET / HTTP/1.1".getBytes(StandardCharsets.US_ASCII);
            default -> bytes;
        };
    }
}
