package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.symmem.ProcessGroup;

/** How many requests a rank sends when ranks meet: counted between each rank and the store. */
@Timeout(60)
class MessageCountTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int LATER = 10;

    /** Passes one rank's connections on to the store, and counts the requests. */
    private static final class Counter implements AutoCloseable {
        private final ServerSocket listener;
        private final int store;
        private final AtomicInteger requests = new AtomicInteger();
        private final ExecutorService threads;

        Counter(int store, ExecutorService threads) throws IOException {
            this.listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            this.store = store;
            this.threads = threads;
            threads.submit(this::accept);
        }

        private Void accept() throws IOException {
            while (true) {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), store);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                threads.submit(() -> server.getInputStream().transferTo(client.getOutputStream()));
                threads.submit(() -> count(client, server));
            }
        }

        private Void count(Socket client, Socket server) throws Exception {
            StoreRequestReader reader = new StoreRequestReader(StoreLimits.defaults());
            byte[] piece = new byte[8192];
            try (client; server) {
                InputStream in = client.getInputStream();
                for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
                    ByteBuffer bytes = ByteBuffer.wrap(piece, 0, length);
                    while (reader.next(bytes) != null) {
                        requests.incrementAndGet();
                    }
                    server.getOutputStream().write(piece, 0, length);
                }
            }
            return null;
        }

        int port() {
            return listener.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 8, 32})
    void aRankSendsAsManyRequestsHoweverManyRanksThereAre(int world) throws Exception {
        try (TcpStoreServer server = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                StoreLimits.defaults()); ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<int[]>> ranks = new ArrayList<>();
            for (int r = 0; r < world; r++) {
                int rank = r;
                ranks.add(threads.submit(() -> meet(rank, world, server.port(), threads)));
            }
            for (Future<int[]> rank : ranks) {
                int[] sent = rank.get();
                assertThat(sent[0]).as("requests of the first meeting, greeting and roll call included").isLessThanOrEqualTo(30);
                assertThat(sent[1]).as("requests of each later meeting: SET, WAIT, MULTI_GET, DELETE_KEY").isEqualTo(4 * LATER);
            }
        }
    }

    /** {@return how many requests this rank sent for the first meeting, and for ten more} */
    private static int[] meet(int rank, int world, int port, ExecutorService threads) throws Exception {
        try (Counter counter = new Counter(port, threads);
                TcpStore store = TcpStore.connect("127.0.0.1", counter.port(), SOON);
                ProcessGroup group = ProcessGroups.over(store, "counted", rank, world, rank, SOON)) {
            group.allGather("first", new byte[100], SOON);
            int first = counter.requests.get();
            for (int i = 0; i < LATER; i++) {
                group.allGather("later", new byte[100], SOON);
            }
            return new int[]{first, counter.requests.get() - first};
        }
    }
}
