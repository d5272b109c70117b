package org.symmem.tck;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.rendezvous.InMemoryStore;

/**
 * Group J: load. The counts of the specification are run where {@link TckSettings#LOAD} is {@code full}; smaller ones otherwise, and
 * the report says which. That 256 tensors live at once is SM-ALLOC-12.
 */
interface LoadRules extends Rules {
    private static SymmetricTensor rendezvoused(RankContext rank, SymmetricMemory memory, long size) {
        SymmetricTensor tensor = rank.opened(memory.allocate(Shape.of(size), DataType.UINT8));
        tensor.rendezvous();
        return tensor;
    }

    /** {@return the count, or a smaller one; noted in the report} */
    private int count(int full, int otherwise, String what) {
        int count = TckSettings.fullLoad() ? full : otherwise;
        ranks().note(count + " " + what + (count < full ? " (" + full + " with " + TckSettings.LOAD + "=full)" : ""));
        return count;
    }

    /** If this fails, look for what grows by a little each time: descriptors, mappings, native memory, entries of tables. */
    @Rule("SM-LOAD-1")
    default void SM_LOAD_1_manyCyclesLeaveMemoryAndDescriptorsFlat() {
        int cycles = count(10_000, 500, "cycles");
        int parts = 5;
        // Three times what a part without a leak was seen to grow; with the full count it is a quarter of a KiB a cycle.
        long leakKiB = 512;
        ranks().run(rank -> {
            for (int i = 0; i < cycles / 10; i++) {
                cycle(rank, i);
            }
            OpenResources before = OpenResources.now();
            List<Long> grownKiB = new ArrayList<>();
            long residentKiB = residentAfterCollection();
            for (int part = 0; part < parts; part++) {
                for (int i = 0; i < cycles / parts; i++) {
                    cycle(rank, i);
                }
                long now = residentAfterCollection();
                grownKiB.add(now - residentKiB);
                residentKiB = now;
            }
            rank.checkEqual(List.of(), OpenResources.now().moreThan(before), "what " + cycles + " cycles left behind");
            // A leak adds to every part. What the JVM takes for itself it takes in some, mostly the first.
            rank.check(Collections.min(grownKiB) < leakKiB,
                    "the resident memory grew with every " + cycles / parts + " cycles, by " + grownKiB + " KiB");
        });
    }

    private static long residentAfterCollection() throws java.io.IOException {
        System.gc();
        return OpenResources.residentKiB();
    }

    private static void cycle(RankContext rank, int round) {
        try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(4096), DataType.UINT8)) {
            tensor.rendezvous();
            rank.write(tensor.remote(rank.next()).slice(round % 4096, 1), new byte[]{(byte) round});
        }
    }

    /** If this fails, look for a limit that grows with the square of the ranks, or a wait that takes turns. */
    @Rule(value = "SM-LOAD-2", needs = Capability.THREAD_RANKS)
    default void SM_LOAD_2_sixtyFourRanksMeetAndReadEachOther() {
        int number = count(64, 64, "ranks, threads of the first rank's process");
        ranks().run(rank -> {
            if (rank.rank() == 0) {
                KeyValueStore store = new InMemoryStore();
                try (ExecutorService threads = Executors.newFixedThreadPool(number)) {
                    List<Future<?>> all = new ArrayList<>();
                    for (int thread = 0; thread < number; thread++) {
                        int own = thread;
                        all.add(threads.submit(() -> {
                            try (ProcessGroup group = rank.threadGroup(store, own, number);
                                    SymmetricMemory memory = SymmetricMemory.open(group, rank.options());
                                    SymmetricTensor tensor = memory.allocate(Shape.of(64), DataType.UINT8)) {
                                rank.write(tensor.local(), rank.values(own, 0, 64, 2));
                                tensor.rendezvous();
                                rank.meet(group);
                                for (int peer = 0; peer < number; peer++) {
                                    rank.checkHolds(tensor.remote(peer), peer, 0, 2, "the tensor of " + number + " ranks");
                                }
                                rank.meet(group);
                            }
                        }));
                    }
                    for (Future<?> one : all) {
                        one.get(RankContext.SOON.toMillis() * 2, TimeUnit.MILLISECONDS);
                    }
                }
            }
            rank.meet(RankContext.SOON.multipliedBy(2));
        });
    }

    /** If this fails, look for a barrier that loses count when ranks come in ever other orders, or wakes too early or never. */
    @Rule(value = "SM-LOAD-3", needs = Capability.HOST_SIGNALS, stochastic = true)
    default void SM_LOAD_3_barriersWithRandomDelaysOrderStores() {
        int barriers = count(1000, 1000, "barriers");
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, rank.memory(), 8);
            Random random = new Random(rank.value(rank.rank(), 0, 3));
            for (int round = 0; round < barriers; round++) {
                // Mostly none, at times longer than a wait spins before it sleeps.
                LockSupport.parkNanos(random.nextInt(8) == 0 ? random.nextInt(2_000_000) : 0);
                rank.write(tensor.local(), rank.values(rank.rank(), 0, 8, round));
                tensor.signals().barrier(round % 3, RankContext.SOON);
                rank.checkHolds(tensor.remote(rank.next()), rank.next(), 0, round, "after barrier " + round + " with delays");
                tensor.signals().barrier(round % 3, RankContext.SOON);
            }
        });
    }

    /** If this fails, look for what two groups of one process share: pads, names, queues, locks. */
    @Rule(value = "SM-LOAD-4", needs = {Capability.SUBGROUPS, Capability.HOST_SIGNALS}, ranks = 2)
    default void SM_LOAD_4_overlappingGroupsSynchroniseAtOnce() {
        int barriers = count(500, 100, "barriers in each of two groups");
        ranks().run(rank -> {
            ProcessGroup all = rank.freshGroup();
            int last = rank.worldSize() - 1;
            // Of two ranks both are in both groups; of more the first is in one, the last in the other, in another order.
            int out = last > 1 ? 1 : 0;
            List<int[]> groups = List.of(IntStream.rangeClosed(0, last - out).toArray(),
                    IntStream.rangeClosed(0, last - out).map(r -> last - r).toArray());
            List<SymmetricTensor> tensors = new ArrayList<>();
            List<Integer> places = new ArrayList<>();
            for (int[] members : groups) {
                if (IntStream.of(members).anyMatch(member -> member == rank.rank())) {
                    SymmetricMemory memory = rank.open(rank.opened(all.subgroup(members)));
                    tensors.add(rendezvoused(rank, memory, 128));
                    places.add(memory.group().rank());
                }
            }
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                List<Future<?>> both = new ArrayList<>();
                for (int i = 0; i < tensors.size(); i++) {
                    SymmetricTensor tensor = tensors.get(i);
                    int own = places.get(i);
                    int next = (own + 1) % groups.getFirst().length;
                    both.add(threads.submit(() -> {
                        for (int round = 0; round < barriers; round++) {
                            rank.write(tensor.local(), rank.values(own, 0, 128, round));
                            tensor.signals().barrier(0, RankContext.SOON);
                            rank.checkHolds(tensor.remote(next), next, 0, round, "a tensor of one of two groups");
                            tensor.signals().barrier(0, RankContext.SOON);
                        }
                    }));
                }
                for (Future<?> each : both) {
                    each.get();
                }
            }
            rank.meet();
        });
    }

    /** If this fails, look for what streams share that only one may use at a time: staging buffers, contexts, queues. */
    @Rule("SM-LOAD-5")
    default void SM_LOAD_5_twoThreadsWithAStreamEachCopyAtOnce() {
        int rounds = count(500, 100, "copies on each of two streams");
        ranks().run(rank -> {
            SymmetricTensor target = rendezvoused(rank, rank.memory(), 20_000);
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                List<Future<?>> both = new ArrayList<>();
                for (int thread = 0; thread < 2; thread++) {
                    long half = thread * 10_000L;
                    SymmetricTensor source = rendezvoused(rank, rank.memory(), 10_000);
                    Stream stream = rank.opened(rank.memory().newStream());
                    both.add(threads.submit(() -> {
                        for (int round = 0; round < rounds; round++) {
                            rank.write(source.local(), rank.values(rank.next(), half, 10_000, round));
                            target.remote(rank.next()).slice(half, 10_000).copyFrom(source.local(), stream);
                            stream.synchronize(RankContext.SOON);
                            rank.checkHolds(target.remote(rank.next()).slice(half, 10_000), rank.next(), half, round,
                                    "what one of two streams copied");
                        }
                    }));
                }
                for (Future<?> each : both) {
                    each.get();
                }
            }
            rank.meet();
            rank.checkHolds(target.local(), rank.rank(), 0, rounds - 1, "both halves after all copies");
            rank.meet();
        });
    }
}
