package org.symmem.tck;

import java.io.File;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.LiveAllocation;
import org.symmem.Shape;
import org.symmem.Signals;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/** Group H: lifecycle and leaks. */
interface LifecycleRules extends Rules {
    private static SymmetricTensor rendezvoused(SymmetricMemory memory, long size) {
        SymmetricTensor tensor = memory.allocate(Shape.of(size), DataType.UINT8);
        tensor.rendezvous();
        return tensor;
    }

    /** If this fails, check the state that says that something is closed. */
    @Rule("SM-LIFE-1")
    default void SM_LIFE_1_closingTwiceIsFine() {
        ranks().run(rank -> {
            SymmetricMemory memory = rank.open(rank.freshGroup());
            SymmetricTensor tensor = rendezvoused(memory, 64);
            Stream stream = memory.newStream();
            rank.meet();
            for (int i = 0; i < 2; i++) {
                stream.close();
                tensor.close();
                memory.close();
            }
        });
    }

    /** If this fails, check that every operation looks whether its tensor is closed. */
    @Rule(value = "SM-LIFE-2", needs = Capability.HOST_SIGNALS)
    default void SM_LIFE_2_useAfterCloseIsAnErrorThatNamesTheTensor() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank.memory(), 64);
            String name = tensor.toString();
            TensorView local = tensor.local();
            TensorView peer = tensor.remote(rank.next());
            Signals signals = tensor.signals();
            Stream stream = rank.opened(rank.memory().newStream());
            rank.meet();
            tensor.close();
            List<RankContext.Action> uses = List.of(tensor::local, () -> tensor.remote(0), tensor::rendezvous, tensor::signals,
                    tensor::contiguousView, tensor::multicast,
                    () -> local.fill(1), () -> local.fill(1, stream), () -> rank.read(peer), () -> peer.copyFrom(local),
                    () -> peer.copyFrom(local, stream), local::address,
                    () -> signals.signal(0, 0), () -> signals.await(0, 0, RankContext.SOON), () -> signals.barrier(0, RankContext.SOON),
                    () -> signals.barrier(0, stream, RankContext.SOON));
            for (int i = 0; i < uses.size(); i++) {
                RankContext.Action use = uses.get(i);
                rank.checkThrows(IllegalStateException.class, use, "closed", name);
            }
            stream.synchronize(RankContext.SOON);
            rank.check(name.contains("rank " + rank.rank() + "/" + rank.worldSize()), "the name should say the rank: " + name);
        });
    }

    /** If this fails, look for what rendezvous opens and close does not: descriptors, mappings, address ranges. */
    @Rule("SM-LIFE-3")
    default void SM_LIFE_3_twoHundredCyclesLeaveNothingBehind() {
        ranks().run(rank -> {
            for (int i = 0; i < 20; i++) {
                cycle(rank, i);
            }
            OpenResources before = OpenResources.now();
            long addressesBefore = addressSpaceKiB();
            for (int i = 0; i < 200; i++) {
                cycle(rank, i);
            }
            rank.checkEqual(List.of(), OpenResources.now().moreThan(before), "what 200 cycles left behind");
            long grownKiB = addressSpaceKiB() - addressesBefore;
            // Less than what one cycle in ten would leave, more than what the JVM takes meanwhile.
            rank.check(grownKiB < 20 * 8 * 1024, "the address space grew by " + grownKiB + " KiB over 200 cycles of 8 MiB");
        });
    }

    private static void cycle(RankContext rank, int round) {
        try (SymmetricTensor tensor = rendezvoused(rank.memory(), 8 << 20)) {
            rank.write(tensor.remote(rank.next()).slice(round, 1), new byte[]{(byte) round});
            if (rank.memory().capability(Capability.CONTIGUOUS_VIEW).supported()) {
                rank.read(tensor.contiguousView().select(rank.next()).slice(round, 1));
            }
            if (round % 50 == 0) {
                rank.meet();
            }
        }
    }

    private static long addressSpaceKiB() throws java.io.IOException {
        return Files.readAllLines(Path.of("/proc/self/status"))
                .stream()
                .filter(line -> line.startsWith("VmSize:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }

    /** If this fails, check that a peer's mapping keeps the memory alive, or that closing waits for the peers. */
    @Rule(value = "SM-LIFE-4", needs = Capability.LOCAL_CLOSE)
    default void SM_LIFE_4_ranksCloseInAnyOrderWhileOthersStillRead() {
        ranks().run(rank -> {
            for (int first = 0; first < rank.worldSize(); first++) {
                SymmetricTensor tensor = rank.memory().allocate(Shape.of(5000), DataType.UINT8);
                rank.write(tensor.local(), rank.values(rank.rank(), 0, 5000, first));
                tensor.rendezvous();
                rank.meet();
                if (rank.rank() == first) {
                    tensor.close();
                }
                rank.meet();
                if (rank.rank() != first) {
                    rank.checkHolds(tensor.remote(first), first, 0, first, "the buffer of a rank that has closed its tensor");
                }
                rank.meet();
                if (rank.rank() != first) {
                    rank.write(tensor.remote(first).slice(rank.rank(), 1), new byte[1]);
                }
                rank.meet();
                tensor.close();
            }
        });
    }

    /** If this fails, look for descriptors that are opened without close-on-exec. */
    @Rule("SM-LIFE-5")
    default void SM_LIFE_5_descriptorsAreNotInheritedByChildProcesses() {
        ranks().run(rank -> {
            List<String> before = withoutCloseOnExec();
            try (SymmetricMemory memory = SymmetricMemory.open(rank.freshGroup(), rank.options());
                    SymmetricTensor tensor = rendezvoused(memory, 64)) {
                Path listing = Files.createTempFile("symmem-tck-descriptors", ".txt");
                try {
                    // Not through the JDK's own spawning helper, which closes what it finds: a plain exec keeps what is not close-on-exec.
                    Process child = new ProcessBuilder("sh", "-c", "ls -l /proc/self/fd").redirectOutput(listing.toFile())
                            .redirectErrorStream(true)
                            .start();
                    rank.check(child.waitFor(20, TimeUnit.SECONDS), "the child that lists its descriptors does not end");
                    String inherited = Files.readString(listing);
                    rank.check(!inherited.contains("memfd") && !inherited.contains("/dev/nvidia"),
                            "a child inherited descriptors: " + inherited);
                } finally {
                    Files.delete(listing);
                }
                List<String> opened = new java.util.ArrayList<>(withoutCloseOnExec());
                opened.removeAll(before);
                rank.checkEqual(List.of(), opened, "what was opened without close-on-exec");
                rank.meet();
            }
        });
    }

    private static List<String> withoutCloseOnExec() throws java.io.IOException {
        List<String> open = new java.util.ArrayList<>();
        // Only unix sockets: the JDK's own TCP sockets are not close-on-exec; it closes them when it starts a child.
        java.util.Set<String> unixSockets = OpenResources.unixSockets();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    String target = Files.readSymbolicLink(descriptor).toString();
                    boolean shared = target.startsWith("/memfd:") || target.contains("pidfd")
                            || target.startsWith("socket:[") && unixSockets.contains(target.substring(8, target.length() - 1));
                    Path info = Path.of("/proc/self/fdinfo", descriptor.getFileName().toString());
                    int flags = Files.readAllLines(info)
                            .stream()
                            .filter(line -> line.startsWith("flags:"))
                            .mapToInt(line -> Integer.parseInt(line.replaceAll("\\D", ""), 8))
                            .findFirst()
                            .orElse(02000000);
                    if (shared && (flags & 02000000) == 0) {
                        open.add(descriptor.getFileName() + " -> " + target);
                    }
                } catch (java.nio.file.NoSuchFileException e) {
                    // Closed since the folder was listed.
                }
            }
        }
        return open;
    }

    /** If this fails, check that closing the memory closes what was left open. */
    @Rule("SM-LIFE-6")
    default void SM_LIFE_6_closingTheMemoryClosesWhatWasLeftOpen() {
        ranks().run(rank -> {
            OpenResources before = OpenResources.now();
            SymmetricMemory memory = SymmetricMemory.open(rank.freshGroup(), rank.options());
            SymmetricTensor tensor = rendezvoused(memory, 64);
            Stream stream = memory.newStream();
            List<String> live = memory.liveAllocations().stream().map(LiveAllocation::tensor).toList();
            rank.checkEqual(List.of(tensor.toString()), live, "the live allocations");
            rank.meet();
            memory.close();
            rank.checkThrows(IllegalStateException.class, tensor::local, "closed");
            rank.checkThrows(IllegalStateException.class, () -> stream.synchronize(RankContext.SOON), "closed");
            rank.checkThrows(IllegalStateException.class, () -> memory.allocate(Shape.of(1), DataType.UINT8), "closed");
            rank.checkEqual(List.of(), OpenResources.now().moreThan(before), "what is left after the memory is closed");
        });
    }

    /** If this fails, look for names in the file system: a killed process cannot remove them. */
    @Rule(value = "SM-LIFE-7", ranks = 2)
    default void SM_LIFE_7_aKilledRankLeavesNoFileBehind() {
        ranks().runUntilLastIsKilled(rank -> {
            long started = System.currentTimeMillis();
            SymmetricTensor tensor = rank.opened(rendezvoused(rank.open(rank.freshGroup(Duration.ofSeconds(5))), 64));
            rank.meet();
            if (rank.rank() == rank.worldSize() - 1) {
                rank.killMyself();
            }
            for (String folder : List.of("/dev/shm", System.getProperty("java.io.tmpdir"))) {
                File[] left = new File(folder).listFiles(file -> file.lastModified() >= started
                        && (file.getName().contains("symmem-") || file.getName().contains(rank.memory().backend())
                                || file.getName().startsWith("nvshmem") || file.getName().startsWith("nccl"))
                        && !file.getName().contains("-tck-"));
                rank.check(left == null || left.length == 0,
                        "files in " + folder + " while memory is shared: " + List.of(left == null ? new File[0] : left));
            }
            rank.read(tensor.remote(rank.worldSize() - 1));
            rank.meetSurvivors();
        });
    }

    /** If this fails, check that closing a tensor waits for the streams that use it. */
    @Rule("SM-LIFE-8")
    default void SM_LIFE_8_closingATensorWaitsForTheStreamsThatUseIt() {
        ranks().run(rank -> {
            SymmetricTensor target = rank.opened(rendezvoused(rank.memory(), 16 << 20));
            Stream stream = rank.opened(rank.memory().newStream());
            SymmetricTensor source = rank.memory().allocate(Shape.of(16 << 20), DataType.UINT8);
            source.local().fill(42, stream);
            for (int i = 0; i < 5; i++) {
                target.local().copyFrom(source.local(), stream);
            }
            source.close();
            rank.checkDone(stream, "a stream that copied from a tensor when that was closed");
            byte[] copied = rank.read(target.local());
            rank.checkEqual((byte) 42, copied[copied.length - 1], "the last byte of a copy from a tensor that was closed meanwhile");
            rank.meet();
        });
    }

    /** If this fails, check that the arena of a segment is closed before its addresses are given back. */
    @Rule(value = "SM-LIFE-9", needs = Capability.HOST_ACCESS)
    default void SM_LIFE_9_aSegmentThatOutlivesItsTensorThrowsRatherThanFaults() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank.memory(), 100_000);
            List<MemorySegment> kept = new java.util.ArrayList<>(
                    List.of(tensor.local().segment(), tensor.remote(rank.next()).segment()));
            if (rank.memory().capability(Capability.CONTIGUOUS_VIEW).supported()) {
                kept.add(tensor.contiguousView().segment());
            }
            rank.meet();
            tensor.close();
            for (MemorySegment segment : kept) {
                rank.checkThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 99_999));
                rank.checkThrows(IllegalStateException.class, () -> segment.set(ValueLayout.JAVA_BYTE, 0, (byte) 1));
            }
        });
    }

    /** If this fails, look for a close that talks to the dead rank, or throws before it has freed everything. */
    @Rule(value = "SM-LIFE-10", needs = Capability.LOCAL_CLOSE, ranks = 2)
    default void SM_LIFE_10_afterAPeersDeathClosingSucceedsAndLeavesNothing() {
        ranks().runUntilLastIsKilled(rank -> {
            OpenResources before = OpenResources.now();
            SymmetricMemory memory = SymmetricMemory.open(rank.freshGroup(Duration.ofSeconds(3)), rank.options());
            SymmetricTensor tensor = rendezvoused(memory, 5000);
            int victim = rank.worldSize() - 1;
            ProcessHandle victimProcess = rank.processOf(victim);
            if (rank.rank() == victim) {
                rank.killMyself();
            }
            victimProcess.onExit().get(RankContext.SOON.toMillis(), TimeUnit.MILLISECONDS);
            rank.write(tensor.remote(victim), rank.values(victim, 0, 5000, 10));
            rank.checkHolds(tensor.remote(victim), victim, 0, 10, "the buffer of a rank that has died");
            tensor.close();
            memory.close();
            rank.checkEqual(List.of(), OpenResources.now().moreThan(before), "what is left after everything is closed");
        });
    }

    /** The emulated driver fails on demand; the tests of the backends that use it hold the rule. */
    @Rule(value = "SM-LIFE-11", untested = "it takes a device that fails while memory is in use")
    default void SM_LIFE_11_closingAfterADeviceErrorKeepsTheFirstErrorAndThrowsNoOther() {}
}
