package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.symmem.ErrorCode;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemoryException;

/** A store with a job token serves those who know it, and they talk to no other. */
@Timeout(30)
class StoreTokenTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String TOKEN = "correct horse battery staple";

    private final TcpStoreServer server = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            StoreLimits.defaults(), TOKEN);

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void whoeverKnowsTheTokenIsServedOnEveryConnection() throws Exception {
        try (TcpStore store = TcpStore.connect("127.0.0.1", server.port(), SOON, TOKEN);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Boolean> waiting = threads.submit(() -> store.waitFor(java.util.List.of("k"), SOON));
            store.set("k", new byte[]{1});
            assertThat(waiting.get()).isTrue();
            assertThat(store.get("k")).hasValue(new byte[]{1});
        }
    }

    @Test
    void whoeverHasNoTokenIsTurnedAwayAndToldWhatMayBeMissing() {
        assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", server.port(), SOON)).isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContainingAll("127.0.0.1:" + server.port(), "SYMMEM_STORE_TOKEN", "this process does not have",
                        ErrorCode.STORE_UNREACHABLE.id());
    }

    @Test
    void anotherTokenIsSaid() {
        assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", server.port(), SOON, "some other job's token"))
                .isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContainingAll("does not know the job token", "SYMMEM_STORE_TOKEN", ErrorCode.SETTING.id());
    }

    @Test
    void aStoreWithoutATokenIsNotTrustedByThoseWhoHaveOne() {
        try (TcpStoreServer open = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                StoreLimits.defaults())) {
            assertThatThrownBy(() -> TcpStore.connect("127.0.0.1", open.port(), SOON, TOKEN)).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContainingAll("SYMMEM_STORE_TOKEN", ErrorCode.STORE_UNREACHABLE.id());
        }
    }

    @Test
    void whoeverRepeatsWhatAClientSaidIsTurnedAway() throws Exception {
        byte[] heard;
        try (ServerSocket between = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<byte[]> listening = threads.submit(() -> listenIn(between));
            try (TcpStore store = TcpStore.connect("127.0.0.1", between.getLocalPort(), SOON, TOKEN)) {
                heard = listening.get();
            }
        }
        try (Socket again = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            again.setSoTimeout(5000);
            int first = 5 + 1 + 8 + 16;
            again.getOutputStream().write(heard, 0, first);
            assertThat(again.getInputStream().readNBytes(8 + 16 + 32)).as("the store's number, another one, and its proof").hasSize(56);
            again.getOutputStream().write(heard, first, heard.length - first);
            assertThat(again.getInputStream().read()).isEqualTo(-1);
        }
    }

    /** {@return what the client of one connection said, which is passed on to the store and back} */
    private byte[] listenIn(ServerSocket between) throws IOException {
        try (Socket client = between.accept(); Socket store = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            ByteBuffer heard = ByteBuffer.allocate(200);
            int[][] turns = {{5 + 1 + 8 + 16, 8 + 16 + 32}, {1 + 8 + 32, 1}, {5, 4}};
            for (int[] turn : turns) {
                byte[] said = client.getInputStream().readNBytes(turn[0]);
                heard.put(said);
                store.getOutputStream().write(said);
                client.getOutputStream().write(store.getInputStream().readNBytes(turn[1]));
            }
            byte[] all = new byte[heard.position()];
            heard.flip().get(all);
            return all;
        }
    }

    @Test
    void aGreetingOfTheWrongLengthEndsTheConnection() throws Exception {
        for (int length : new int[]{0, 15, 17, 32, 33, Integer.MAX_VALUE}) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                socket.setSoTimeout(5000);
                ByteBuffer greeting = ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN);
                greeting.put(StoreProtocol.VALIDATE).putInt(StoreProtocol.MAGIC).put(StoreProtocol.AUTHENTICATE).putLong(length);
                greeting.position(greeting.position() + Math.min(length, 40));
                socket.getOutputStream().write(greeting.array(), 0, greeting.position());
                InputStream in = socket.getInputStream();
                assertThat(in.read()).as("length %d", length).isEqualTo(-1);
            }
        }
    }

    @Test
    void ranksHaveTheTokenFromTheirVariables() throws Exception {
        Map<String, String> variables = Map.of("WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
                Integer.toString(server.port()), "TORCHELASTIC_USE_AGENT_STORE", "True", "TORCHELASTIC_RUN_ID", "token",
                "SYMMEM_STORE_TOKEN", TOKEN);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?>[] ranks = new Future<?>[2];
            for (int rank = 0; rank < 2; rank++) {
                Map<String, String> own = new java.util.HashMap<>(variables);
                own.put("RANK", Integer.toString(rank));
                ranks[rank] = threads.submit(() -> {
                    try (ProcessGroup group = ProcessGroups.fromEnvironment(own)) {
                        assertThat(group.allGather("step", new byte[]{1}, SOON)).hasSize(2);
                    }
                });
            }
            for (Future<?> rank : ranks) {
                rank.get();
            }
        }
    }

    @Test
    void aTokenThatIsTooShortIsAnError() {
        assertThatThrownBy(() -> StoreToken.of(Map.of(StoreToken.VARIABLE, "short"))).isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContainingAll("SYMMEM_STORE_TOKEN", "5 characters", "at least 16", ErrorCode.SETTING.id());
        assertThat(StoreToken.of(Map.of())).isEmpty();
    }
}
