package org.symmem.bench;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.symmem.ProcessGroup;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.rendezvous.StoreLimits;
import org.symmem.rendezvous.TcpStore;
import org.symmem.rendezvous.TcpStoreServer;

/**
 * How long many clients take to meet in one store: each a thread with a connection of its own, all in this process with the store, so
 * that two cores do the work of all. Prints {@code name value unit}, a line each: from the first connection until the last client has
 * every other's 64 bytes, and the same for later meetings over the connections that are there. Arguments: clients (512), rounds (5).
 */
public final class StoreBench {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int LATER = 3;

    private StoreBench() {}

    /** @param arguments the number of clients, and of rounds */
    public static void main(String[] arguments) throws Exception {
        int clients = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 512;
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        double[] first = new double[rounds];
        double[] later = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            try (TcpStoreServer server = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    StoreLimits.defaults())) {
                double[] millis = meet(clients, server.port());
                first[round] = millis[0];
                later[round] = millis[1];
            }
        }
        Arrays.sort(first);
        Arrays.sort(later);
        System.out.printf("store_clients %d clients%n", clients);
        System.out.printf("store_connect_and_meet_median %.1f ms%n", first[rounds / 2]);
        System.out.printf("store_connect_and_meet_worst %.1f ms%n", first[rounds - 1]);
        System.out.printf("store_meet_again_median %.1f ms%n", later[rounds / 2]);
    }

    /** {@return milliseconds of the first meeting with all that is before it, and of a later one} */
    private static double[] meet(int clients, int port) throws Exception {
        // Small stacks: 512 threads are part of the measurement's cost, not of what is measured.
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().stackSize(256 << 10).factory())) {
            CyclicBarrier start = new CyclicBarrier(clients + 1);
            CountDownLatch met = new CountDownLatch(clients);
            CyclicBarrier again = new CyclicBarrier(clients + 1);
            List<Future<?>> ends = new ArrayList<>();
            for (int client = 0; client < clients; client++) {
                int rank = client;
                ends.add(threads.submit(() -> {
                    start.await();
                    try (TcpStore store = TcpStore.connect("127.0.0.1", port, SOON);
                            ProcessGroup group = ProcessGroups.over(store, "bench", rank, clients, rank, SOON)) {
                        gather(group);
                        met.countDown();
                        again.await();
                        for (int i = 0; i < LATER; i++) {
                            gather(group);
                        }
                        again.await();
                    }
                    return null;
                }));
            }
            start.await();
            long begun = System.nanoTime();
            met.await();
            double first = (System.nanoTime() - begun) / 1e6;
            again.await();
            begun = System.nanoTime();
            again.await();
            double later = (System.nanoTime() - begun) / 1e6 / LATER;
            for (Future<?> end : ends) {
                end.get();
            }
            return new double[]{first, later};
        }
    }

    private static void gather(ProcessGroup group) {
        byte[] own = new byte[64];
        Arrays.fill(own, (byte) group.rank());
        List<byte[]> all = group.allGather("meeting", own, SOON);
        int last = group.worldSize() - 1;
        if (all.size() != group.worldSize() || all.get(last)[63] != (byte) last) {
            throw new IllegalStateException("rank " + group.rank() + " got what rank " + last + " did not give");
        }
    }
}
