package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Requests are the same in whatever pieces their bytes come, and bytes that make none are refused without taking memory. */
class StoreRequestReaderTest {
    private static final StoreLimits LIMITS = new StoreLimits(60, 500, 20, 20_000, 100, 100_000, 10, Duration.ofSeconds(5));

    @Test
    void requestsAreTheSameInWhateverPiecesTheyCome() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            List<StoreRequest> sent = random.ints(1 + random.nextInt(5), 0, 14)
                    .mapToObj(opcode -> randomRequest((byte) opcode, random))
                    .toList();
            ByteBuffer bytes = ByteBuffer.allocate(200_000).order(ByteOrder.LITTLE_ENDIAN);
            sent.forEach(request -> encode(request, bytes));
            bytes.flip();
            StoreRequestReader reader = new StoreRequestReader(LIMITS);
            List<StoreRequest> read = new ArrayList<>();
            int most = 1 + random.nextInt(300);
            while (bytes.hasRemaining()) {
                int length = Math.min(bytes.remaining(), 1 + random.nextInt(most));
                ByteBuffer piece = bytes.slice(bytes.position(), length);
                bytes.position(bytes.position() + length);
                for (StoreRequest request = reader.next(piece); request != null; request = reader.next(piece)) {
                    read.add(request);
                }
            }
            assertThat(read).as("seed %d, round %d", seed, round).usingRecursiveComparison().isEqualTo(sent);
            assertThat(reader.heldBytes()).isZero();
        }
    }

    @Test
    void noMoreIsHeldThanHasArrivedWhateverIsClaimed() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            byte[] garbage = new byte[random.nextInt(120)];
            random.nextBytes(garbage);
            if (garbage.length > 9 && random.nextBoolean()) {
                // A known opcode and a length that may be allowed come further than noise does.
                garbage[0] = (byte) random.nextInt(14);
                ByteBuffer.wrap(garbage).order(ByteOrder.LITTLE_ENDIAN).putLong(1, random.nextLong(-2, 70));
            }
            StoreRequestReader reader = new StoreRequestReader(LIMITS);
            ByteBuffer in = ByteBuffer.wrap(garbage);
            try {
                while (reader.next(in) != null) {
                    assertThat(reader.heldBytes()).isZero();
                }
                assertThat(in.hasRemaining()).isFalse();
            } catch (StoreRequest.Violation e) {
                assertThat(e).hasMessageMatching("(opcode|[0-9]+ |a request).*");
            }
            assertThat(reader.heldBytes()).as("seed %d, round %d", seed, round).isLessThanOrEqualTo(garbage.length);
        }
    }

    @Test
    void aRequestOfManyAllowedPartsIsRefusedWhenItIsTooLongAsAWhole() {
        StoreRequestReader reader = new StoreRequestReader(new StoreLimits(60, 500, 20, 1000, 100, 100_000, 10, Duration.ofSeconds(5)));
        ByteBuffer bytes = ByteBuffer.allocate(20_000).order(ByteOrder.LITTLE_ENDIAN);
        encode(new StoreRequest(StoreProtocol.MULTI_SET, List.of("a", "b", "c"), List.of(new byte[400], new byte[400], new byte[400]), 0),
                bytes);
        assertThatThrownBy(() -> reader.next(bytes.flip())).isInstanceOf(StoreRequest.Violation.class).hasMessageContaining("1000 bytes");
    }

    private static StoreRequest randomRequest(byte opcode, Random random) {
        List<String> keys = new ArrayList<>();
        List<byte[]> values = new ArrayList<>();
        long number = 0;
        int repeats = random.nextInt(21);
        switch (opcode) {
            case StoreProtocol.VALIDATE, StoreProtocol.PING -> number = random.nextInt();
            case StoreProtocol.GETNUMKEYS, StoreProtocol.CANCEL_WAIT -> repeats = 0;
            case StoreProtocol.CHECK, StoreProtocol.WAIT, StoreProtocol.MULTI_GET, StoreProtocol.MULTI_SET -> {
            }
            default -> repeats = 1;
        }
        if (opcode == StoreProtocol.VALIDATE || opcode == StoreProtocol.PING) {
            repeats = 0;
        }
        for (int i = 0; i < repeats; i++) {
            keys.add(new String(bytes(60, random), StandardCharsets.ISO_8859_1));
        }
        int valuesAKey = switch (opcode) {
            case StoreProtocol.SET, StoreProtocol.APPEND, StoreProtocol.MULTI_SET -> 1;
            case StoreProtocol.COMPARE_SET -> 2;
            default -> 0;
        };
        for (int i = 0; i < repeats * valuesAKey; i++) {
            values.add(bytes(500, random));
        }
        return new StoreRequest(opcode, keys, values, opcode == StoreProtocol.ADD ? random.nextLong() : number);
    }

    private static byte[] bytes(int most, Random random) {
        byte[] bytes = new byte[random.nextInt(most + 1)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void encode(StoreRequest request, ByteBuffer out) {
        out.put(request.opcode());
        switch (request.opcode()) {
            case StoreProtocol.VALIDATE, StoreProtocol.PING -> out.putInt((int) request.number());
            case StoreProtocol.CHECK, StoreProtocol.WAIT, StoreProtocol.MULTI_GET, StoreProtocol.MULTI_SET ->
                out.putLong(request.keys().size());
            default -> {
            }
        }
        int values = 0;
        for (String key : request.keys()) {
            out.putLong(key.length()).put(key.getBytes(StandardCharsets.ISO_8859_1));
            for (int i = 0; i < request.values().size() / request.keys().size(); i++) {
                byte[] value = request.values().get(values++);
                out.putLong(value.length).put(value);
            }
        }
        if (request.opcode() == StoreProtocol.ADD) {
            out.putLong(request.number());
        }
    }
}
