package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.linux.UnixSocket;

/** Thousands of messages of any length with any number of descriptors through a real socket: none stays open, and nothing hangs. */
@Timeout(60)
class DescriptorSocketFuzzTest {
    private static final int MESSAGES = 20_000;
    private static final int LONGEST_EXPECTED = 128;

    @Test
    void whateverComesNoDescriptorStaysOpen() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String name = "symmem-fuzz-" + Long.toHexString(seed);
        int whole = 0;
        int refused = 0;
        try (UnixSocket listener = UnixSocket.listen(name, 1);
                UnixSocket sender = UnixSocket.connect(name);
                UnixSocket receiver = listener.accept().orElseThrow();
                Descriptor memory = LibC.memfdCreate("symmem-fuzz", LibC.MFD_CLOEXEC, "testing")) {
            MemorySegment buffer = Arena.ofAuto().allocate(LONGEST_EXPECTED);
            long before = openDescriptors();
            for (int i = 0; i < MESSAGES; i++) {
                byte[] bytes = new byte[1 + random.nextInt(LONGEST_EXPECTED + LONGEST_EXPECTED / 8)];
                random.nextBytes(bytes);
                int descriptors = random.nextInt(4) == 0 ? random.nextInt(HandleMessage.MOST_DESCRIPTORS + 5) : 0;
                List<Integer> all = Collections.nCopies(descriptors, memory.fd());
                assertThat(sender.send(bytes, all)).isTrue();
                boolean fits = bytes.length <= LONGEST_EXPECTED && descriptors <= HandleMessage.MOST_DESCRIPTORS;
                try {
                    Optional<UnixSocket.Message> message = receiver.receive(buffer, HandleMessage.MOST_DESCRIPTORS);
                    try (UnixSocket.Message one = message.orElseThrow()) {
                        assertThat(fits).as("seed %d, message %d", seed, i).isTrue();
                        assertThat(one.bytes()).isEqualTo(bytes);
                        assertThat(one.descriptors()).hasSize(descriptors);
                        whole++;
                    }
                } catch (SymmetricMemoryException e) {
                    assertThat(fits).as("seed %d, message %d of %d bytes: %s", seed, i, bytes.length, e.getMessage()).isFalse();
                    refused++;
                }
                assertThat(receiver.receive(buffer, 1)).isEmpty();
            }
            assertThat(openDescriptors()).as("seed %d", seed).isEqualTo(before);
        }
        System.out.println("descriptor socket: " + MESSAGES + " messages, " + whole + " whole, " + refused + " refused");
        assertThat(refused).isPositive();
    }

    private static long openDescriptors() throws Exception {
        try (var list = Files.list(Path.of("/proc/self/fd"))) {
            return list.count();
        }
    }
}
