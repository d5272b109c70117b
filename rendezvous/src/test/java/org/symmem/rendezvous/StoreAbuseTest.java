package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/** A store that is spoken to badly goes on serving the others, and a client that finds no store says so. */
@Timeout(20)
class StoreAbuseTest {
    private static final String VALIDATE = "00cef7853c";
    private TcpStoreServer server;

    @BeforeEach
    void start() {
        server = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new StoreLimits(100, 1000, 10, 100_000, 50, 20_000, 200, Duration.ofSeconds(5)));
    }

    @AfterEach
    void stillServesAndStop() {
        try (TcpStore store = TcpStore.connect("127.0.0.1", server.port(), Duration.ofSeconds(5))) {
            assertThat(store.add("alive", 1)).isEqualTo(1);
        }
        server.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(5000);
        return socket;
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "47455420", // an HTTP client
        "00deadbeef", // another magic
        "0102000000000000002f6b0300000000000000616263", // no VALIDATE first
        VALIDATE + "010000000000000010", // a key of 2^60 bytes
        VALIDATE + "01ffffffffffffffff", // a key of -1 bytes
        VALIDATE + "0102000000000000002f6be903000000000000", // a value of 1001 bytes
        VALIDATE + "060b00000000000000", // eleven keys to wait for
        VALIDATE + "0302000000000000002f6b", // a key that is not there, not waited for
        VALIDATE + "7f", // an opcode that does not exist
        VALIDATE + "0e" // one of newer servers
    })
    void whoeverBreaksTheProtocolIsDisconnected(String bytes) throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(HexFormat.of().parseHex(bytes));
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void randomBytesNeverDisturbTheOthers() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            byte[] garbage = new byte[random.nextInt(200)];
            random.nextBytes(garbage);
            try (Socket socket = connect()) {
                socket.getOutputStream().write(HexFormat.of().parseHex(VALIDATE));
                socket.getOutputStream().write(garbage);
            } catch (IOException e) {
                assertThat(e.getMessage()).as("seed %d", seed).containsAnyOf("reset", "pipe", "closed");
            }
        }
    }

    @Test
    void aRequestThatComesByteByByteIsServed() throws IOException {
        try (Socket socket = connect()) {
            socket.setTcpNoDelay(true);
            OutputStream out = socket.getOutputStream();
            for (byte b : HexFormat.of().parseHex(VALIDATE + "0402000000000000002f6e0500000000000000")) {
                out.write(b);
                out.flush();
            }
            assertThat(ByteBuffer.wrap(socket.getInputStream().readNBytes(8)).order(ByteOrder.LITTLE_ENDIAN).getLong()).isEqualTo(5);
        }
    }

    @Test
    void silentAndHalfOpenConnectionsHoldUpNobody() throws IOException {
        List<Socket> silent = new ArrayList<>();
        try (TcpStore store = TcpStore.connect("127.0.0.1", server.port(), Duration.ofSeconds(5))) {
            for (int i = 0; i < 100; i++) {
                Socket socket = connect();
                socket.getOutputStream().write(HexFormat.of().parseHex(VALIDATE + "01"));
                silent.add(socket);
            }
            store.set("k", new byte[]{1});
            assertThat(store.get("k")).hasValue(new byte[]{1});
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void silentConnectionsMakeRoomWhenConnectionsAreShort() throws IOException {
        StoreLimits two = new StoreLimits(100, 1000, 10, 100_000, 50, 20_000, 2, Duration.ZERO);
        try (TcpStoreServer small = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), two);
                Socket silent = new Socket(InetAddress.getLoopbackAddress(), small.port());
                TcpStore first = TcpStore.connect("127.0.0.1", small.port(), Duration.ofSeconds(5));
                TcpStore second = TcpStore.connect("127.0.0.1", small.port(), Duration.ofSeconds(5))) {
            silent.setSoTimeout(5000);
            assertThat(silent.getInputStream().read()).as("the silent one was given up").isEqualTo(-1);
            assertThat(first.add("n", 1) + second.add("n", 1)).isEqualTo(3);
            assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", small.port(), Duration.ofSeconds(5)))
                    .as("those who have greeted are kept")
                    .isInstanceOf(SymmetricMemoryException.class);
            assertThat(first.add("n", 1) + second.add("n", 1)).isEqualTo(7);
        }
    }

    @Test
    void aFullStoreRefusesMoreAndKeepsWhatItHas() {
        try (TcpStore store = TcpStore.connect("127.0.0.1", server.port(), Duration.ofSeconds(5))) {
            store.set("first", new byte[1000]);
            assertThatThrownBy(() -> {
                for (int i = 0; i < 60; i++) {
                    store.set("k" + i, new byte[1]);
                }
            }).isInstanceOf(SymmetricMemoryException.class);
            assertThat(store.get("first").orElseThrow()).hasSize(1000);
            store.delete("k0");
        }
    }

    @Test
    void aPortInUseIsSaid() {
        assertThatThrownBy(
                () -> TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()), StoreLimits.defaults()))
                .isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining(":" + server.port())
                .hasMessageContaining("MASTER_PORT")
                .hasMessageContaining(ErrorCode.STORE_LISTEN.id());
    }

    @Test
    void aHostWithoutAddressIsSaid() {
        assertThatThrownBy(() -> TcpStore.connect("no-such-host.invalid", 1, Duration.ofSeconds(1)))
                .isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining("no-such-host.invalid")
                .hasMessageContaining("MASTER_ADDR");
    }

    @Test
    void nobodyListeningIsSaidAtTheDeadline() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }
        assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", free, Duration.ofMillis(200)))
                .isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining("nobody listens on 127.0.0.1:" + free)
                .hasMessageContaining("rank 0");
    }

    @Test
    void whatIsNoStoreIsNotTakenForOne() throws Exception {
        Consumer<Socket> http = socket -> write(socket,
                "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        Consumer<Socket> closes = socket -> {};
        for (Consumer<Socket> other : List.of(http, closes)) {
            try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                Thread answering = Thread.ofVirtual().start(() -> {
                    try (Socket socket = listener.accept()) {
                        other.accept(socket);
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });
                assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", listener.getLocalPort(), Duration.ofSeconds(2)))
                        .isInstanceOf(SymmetricMemoryException.class)
                        .hasMessageContaining("127.0.0.1:" + listener.getLocalPort())
                        .hasMessageContaining(ErrorCode.STORE_UNREACHABLE.id());
                answering.join();
            }
        }
    }

    private static void write(Socket socket, byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aServerThatEndsIsSaid() {
        TcpStoreServer ending = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), StoreLimits.defaults());
        try (TcpStore store = TcpStore.connect("127.0.0.1", ending.port(), Duration.ofSeconds(5))) {
            Thread.ofVirtual().start(ending::close);
            assertThatThrownBy(() -> store.waitFor(List.of("never"), Duration.ofSeconds(10)))
                    .isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContaining("rank 0");
        }
    }
}
