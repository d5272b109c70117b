package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

@Timeout(30)
class TcpStoreTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory());
    private TcpStoreServer server;
    private TcpStore store;

    @BeforeEach
    void start() {
        server = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), StoreLimits.defaults());
        store = connect();
    }

    @AfterEach
    void stop() {
        store.close();
        server.close();
        threads.shutdownNow();
    }

    private TcpStore connect() {
        return TcpStore.connect("127.0.0.1", server.port(), SOON);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aWaitOfOneThreadEndsByAnothersSetOfTheLastKey() throws Exception {
        Future<Boolean> waiting = threads.submit(() -> store.waitFor(List.of("a", "b", "a"), SOON));
        store.set("a", bytes("1"));
        assertThat(store.check(List.of("a", "b"))).isFalse();
        assertThat(waiting.isDone()).isFalse();
        store.set("b", bytes("2"));
        assertThat(waiting.get()).isTrue();
    }

    @Test
    void aWaitThatPassesItsDeadlineLeavesTheConnectionInOrder() {
        for (int i = 0; i < 20; i++) {
            assertThat(store.waitFor(List.of("never"), Duration.ofMillis(1))).isFalse();
            assertThat(store.add("n", 1)).isEqualTo(i + 1);
        }
        store.set("never", bytes("x"));
        assertThat(store.waitFor(List.of("never"), Duration.ZERO)).isTrue();
        assertThat(store.get("never")).hasValue(bytes("x"));
    }

    @Test
    void thousandsOfKeysAreAwaitedInParts() {
        List<String> keys = IntStream.range(0, 3000).mapToObj(i -> "k" + i).toList();
        store.multiSet(keys, keys.stream().map(TcpStoreTest::bytes).toList());
        List<byte[]> values = store.await(keys, SOON).orElseThrow();
        assertThat(values).hasSize(3000);
        assertThat(values.get(2999)).isEqualTo(bytes("k2999"));
        assertThat(store.check(keys)).isTrue();
        assertThat(store.keyCount()).isEqualTo(3000);
    }

    @Test
    void aPrefixedViewHasKeysOfItsOwnAsPyTorchsHas() {
        TcpStore view = store.prefixed("grp").prefixed("1");
        view.set("k", bytes("inner"));
        assertThat(store.get("k")).isEmpty();
        assertThat(store.get("grp/1/k")).hasValue(bytes("inner"));
        view.close();
        assertThat(store.get("grp/1/k")).as("closing a view leaves the store open").isPresent();
        store.close();
        assertThatThrownBy(() -> view.get("k")).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed: TcpStore[127.0.0.1:");
    }

    @Test
    void closingEndsTheWaitsOfOtherThreads() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        Future<?> waiting = threads.submit(() -> {
            entered.countDown();
            assertThatThrownBy(() -> store.waitFor(List.of("never"), SOON)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed: TcpStore");
        });
        entered.await();
        store.close();
        waiting.get();
    }

    @Test
    void anInterruptEndsAWaitAndIsKept() throws Exception {
        Future<?> waiting = threads.submit(() -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> store.waitFor(List.of("never"), SOON)).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContaining("interrupted")
                    .hasMessageContaining("never");
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        });
        waiting.get();
        assertThat(store.add("n", 1)).isEqualTo(1);
    }

    @Test
    void whatAStoreWouldRefuseIsNotSent() {
        assertThatThrownBy(() -> store.set("", bytes("x"))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.get("k".repeat(5000))).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("4096");
        assertThatThrownBy(() -> store.set("k", new byte[(8 << 20) + 1])).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8388608");
        assertThatThrownBy(() -> store.multiSet(List.of("k"), List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThat(store.keyCount()).isZero();
    }

    @Test
    void aStoreThatHasEndedIsSaidByEveryLaterRequest() {
        server.close();
        assertThatThrownBy(() -> store.add("n", 1)).isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining("ADD /n")
                .hasMessageContaining("rank 0")
                .hasMessageContaining(ErrorCode.STORE_PROTOCOL.id());
        assertThatThrownBy(() -> store.add("n", 1)).isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining("any more")
                .hasMessageContaining("rank 0")
                .hasMessageContaining(ErrorCode.STORE_UNREACHABLE.id());
    }

    @Test
    void aStoreThatComesLaterIsFound() throws Exception {
        int port = server.port();
        server.close();
        Future<TcpStore> early = threads.submit(() -> TcpStore.connect("127.0.0.1", port, SOON));
        try (TcpStoreServer late = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                StoreLimits.defaults());
                TcpStore found = early.get()) {
            assertThat(late.port()).isEqualTo(port);
            assertThat(found.add("n", 7)).isEqualTo(7);
        }
    }

    @Test
    void aClientThatPipelinesAndReadsNothingHoldsUpNobody() throws Exception {
        store.set("large", new byte[4 << 20]);
        try (Socket greedy = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            ByteBuffer requests = ByteBuffer.allocate(1 << 20)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(StoreProtocol.VALIDATE)
                    .putInt(StoreProtocol.MAGIC);
            // 30 times 4 MiB to take, which it does not; then thousands of requests more.
            requests.put(StoreProtocol.MULTI_GET).putLong(30);
            for (int i = 0; i < 30; i++) {
                requests.putLong(6).put(bytes("/large"));
            }
            byte[] numbers = new byte[10_000];
            java.util.Arrays.fill(numbers, StoreProtocol.GETNUMKEYS);
            greedy.getOutputStream().write(requests.put(numbers).array(), 0, requests.position());
            for (int i = 0; i < 100; i++) {
                assertThat(store.add("n", 1)).isEqualTo(i + 1);
            }
            // When it reads at last, it gets everything in order.
            InputStream in = greedy.getInputStream();
            greedy.setSoTimeout(10_000);
            for (int i = 0; i < 30; i++) {
                assertThat(number(in)).isEqualTo(4 << 20);
                in.skipNBytes(4 << 20);
            }
            for (int i = 0; i < numbers.length; i++) {
                assertThat(number(in)).isEqualTo(2);
            }
        }
    }

    @Test
    void oneRequestCannotMakeTheStoreAnswerWithoutBound() throws Exception {
        store.set("large", new byte[8 << 20]);
        try (Socket greedy = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            ByteBuffer request = ByteBuffer.allocate(4 << 20)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(StoreProtocol.VALIDATE)
                    .putInt(StoreProtocol.MAGIC);
            request.put(StoreProtocol.MULTI_GET).putLong(65_536);
            for (int i = 0; i < 65_536; i++) {
                request.putLong(6).put(bytes("/large"));
            }
            greedy.getOutputStream().write(request.array(), 0, request.position());
            greedy.setSoTimeout(10_000);
            assertThat(greedy.getInputStream().read()).isEqualTo(-1);
        }
        assertThat(store.get("large").orElseThrow()).hasSize(8 << 20);
    }

    private static long number(InputStream in) throws IOException {
        return ByteBuffer.wrap(in.readNBytes(8)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /** A server that greets as a store does and then does what the test says. */
    private interface Script {
        void run(InputStream in, OutputStream out) throws IOException;
    }

    private Future<?> scripted(ServerSocket listener, Script script) {
        return threads.submit(() -> {
            try (Socket socket = listener.accept()) {
                socket.setSoTimeout(10_000);
                socket.getOutputStream().write(socket.getInputStream().readNBytes(10), 6, 4);
                script.run(socket.getInputStream(), socket.getOutputStream());
            }
            return null;
        });
    }

    @Test
    void aSetReturnsWhenTheStoreHasServedIt() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Future<?> script = scripted(listener, (in, out) -> {
                assertThat(in.readNBytes(1 + 8 + 2 + 8 + 1)).startsWith(StoreProtocol.SET);
                assertThat(in.read()).isEqualTo(StoreProtocol.GETNUMKEYS);
                arrived.countDown();
                awaitQuietly(answer);
                out.write(HexFormat.of().parseHex("0100000000000000"));
            });
            try (TcpStore client = TcpStore.connect("127.0.0.1", listener.getLocalPort(), SOON)) {
                Future<?> set = threads.submit(() -> client.set("k", bytes("x")));
                assertThat(arrived.await(10, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
                assertThat(set.isDone()).isFalse();
                answer.countDown();
                set.get();
            }
            script.get();
        }
    }

    @Test
    void whatIsSetIsSeenByAnotherClientAtOnce() {
        try (TcpStore other = connect()) {
            for (int i = 0; i < 500; i++) {
                store.set("set" + i, bytes("x"));
                store.append("appended" + i, bytes("x"));
                store.multiSet(List.of("multi" + i), List.of(bytes("x")));
                assertThat(other.check(List.of("set" + i, "appended" + i, "multi" + i))).as("round %d", i).isTrue();
            }
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void keysThatComeWhileTheWaitIsBeingCancelledHaveCome() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Future<?> script = scripted(listener, (in, out) -> {
                in.readNBytes(1 + 8 + 8 + 2);
                assertThat(in.read()).isEqualTo(StoreProtocol.CANCEL_WAIT);
                out.write(HexFormat.of().parseHex("0001"));
                assertThat(in.read()).isEqualTo(StoreProtocol.GETNUMKEYS);
                out.write(HexFormat.of().parseHex("2a00000000000000"));
            });
            try (TcpStore client = TcpStore.connect("127.0.0.1", listener.getLocalPort(), SOON)) {
                assertThat(client.waitFor(List.of("k"), Duration.ZERO)).isTrue();
                assertThat(client.keyCount()).isEqualTo(42);
            }
            script.get();
        }
    }

    @Test
    void answersThatTheProtocolDoesNotHaveAreErrors() throws Exception {
        for (String answer : List.of("00ffffffffffffffff", "000000000000000010", "0003000000000000006162", "07")) {
            try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                Future<?> script = scripted(listener, (in, out) -> {
                    in.readNBytes(1 + 8 + 8 + 2);
                    // The answer to the wait, then that to the get, in part, with a length that cannot be, or none at all.
                    out.write(HexFormat.of().parseHex(answer));
                });
                try (TcpStore client = TcpStore.connect("127.0.0.1", listener.getLocalPort(), SOON)) {
                    assertThatThrownBy(() -> client.get("k", SOON)).as(answer)
                            .isInstanceOfSatisfying(SymmetricMemoryException.class,
                                    e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_PROTOCOL))
                            .hasMessageContaining("127.0.0.1:" + listener.getLocalPort());
                }
                script.get();
            }
        }
    }

    @Test
    void aStoreThatEndsHalfwayThroughAnAnswerIsSaid() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Future<?> script = scripted(listener, (in, out) -> {
                in.readNBytes(1 + 8 + 2 + 8);
                out.write(new byte[3]);
            });
            try (TcpStore client = TcpStore.connect("127.0.0.1", listener.getLocalPort(), SOON)) {
                assertThatThrownBy(() -> client.add("n", 1)).isInstanceOf(SymmetricMemoryException.class)
                        .hasMessageContainingAll(
                                "127.0.0.1:" + listener.getLocalPort() + " broke off during ADD /n: it closed the connection",
                                "see its output", ErrorCode.STORE_PROTOCOL.id());
            }
            script.get();
        }
    }

    @Test
    void whoeverListensAndSaysNothingIsNoStore() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", listener.getLocalPort(), Duration.ofMillis(100)))
                    .isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContaining("127.0.0.1:" + listener.getLocalPort() + " does not answer a greeting")
                    .hasMessageContaining(ErrorCode.STORE_UNREACHABLE.id());
        }
    }
}
