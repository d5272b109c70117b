package org.symmem.cli;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/** One rank of the main job, in a process of its own. */
final class RunRank {
    /** What is copied at once: fits the caches, and is many times what a copy costs to begin. */
    private static final int CHUNK_BYTES = 4 << 20;
    private static final int FAILED = 1;

    private final Path input;
    private final long fileBytes;
    private final Path output;
    private long unreported;

    private RunRank(Path input, long fileBytes, Path output) {
        this.input = input;
        this.fileBytes = fileBytes;
        this.output = output;
    }

    /** @param arguments the input, its size in bytes, and the output for rank 0 or an empty text */
    public static void main(String[] arguments) {
        endWithTheParent();
        int rank = Integer.parseInt(System.getenv().getOrDefault("RANK", "0"));
        try (ProcessGroup group = ProcessGroup.fromEnvironment(); SymmetricMemory memory = SymmetricMemory.open(group)) {
            new RunRank(Path.of(arguments[0]), Long.parseLong(arguments[1]), Path.of(arguments[2])).run(memory).print();
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            new RankMessage.Failure(rank, e instanceof SymmetricMemoryException || e instanceof UsageException ? e.getMessage() : e.toString()).print();
            System.exit(FAILED);
        }
        System.exit(0);
    }

    /** The parent holds this process's standard input open as long as it lives. */
    private static void endWithTheParent() {
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            try {
                while (System.in.read() >= 0) {
                    Thread.onSpinWait();
                }
            } catch (IOException e) {
                // The same as its end.
            }
            Runtime.getRuntime().halt(FAILED);
        });
    }

    private RankMessage.Result run(SymmetricMemory memory) throws Exception {
        long start = System.nanoTime();
        int rank = memory.group().rank();
        int worldSize = memory.group().worldSize();
        long granularity = memory.granularityBytes();
        long shardBytes = Math.max(1, Math.ceilDiv(Math.ceilDiv(fileBytes, worldSize), granularity)) * granularity;
        try (Arena arena = Arena.ofConfined(); SymmetricTensor tensor = memory.allocate(Shape.of(shardBytes), DataType.UINT8)) {
            MemorySegment staging = arena.allocate(CHUNK_BYTES, 4096);
            long from = Math.min(fileBytes, rank * shardBytes);
            long loadedBytes = Math.min(fileBytes, from + shardBytes) - from;
            long loadStart = System.nanoTime();
            load(tensor.local(), from, loadedBytes, staging);
            double loadSeconds = seconds(loadStart);
            tensor.rendezvous();
            barrier(memory, tensor);
            Reading view = new Reading();
            boolean hasView = memory.capability(Capability.CONTIGUOUS_VIEW).supported();
            if (hasView) {
                TensorView all = tensor.contiguousView();
                for (int r = 0; r < worldSize; r++) {
                    view.read(all.select(r), bytesOf(r, shardBytes), staging, null);
                }
            }
            Reading peers = new Reading();
            try (FileChannel target = rank == 0 && !output.toString().isEmpty() ? FileChannel.open(output, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW) : null) {
                for (int r = 0; r < worldSize; r++) {
                    peers.read(tensor.remote(r), bytesOf(r, shardBytes), staging, target);
                }
                if (target != null) {
                    target.force(true);
                }
            }
            barrier(memory, tensor);
            report(0, true);
            return new RankMessage.Result(rank, ProcessHandle.current().pid(), org.symmem.spi.HostIdentity.local().name(), memory.device(), memory.backend(), loadedBytes, loadSeconds,
                    hasView ? view.sha256() : "", view.gigabytesPerSecond(), peers.sha256(), peers.gigabytesPerSecond(), seconds(start), residentKibibytes());
        }
    }

    private long bytesOf(int rank, long shardBytes) {
        return Math.max(0, Math.min(fileBytes - rank * shardBytes, shardBytes));
    }

    private void load(TensorView local, long from, long bytes, MemorySegment staging) throws IOException {
        boolean direct = local.isHostAccessible();
        try (FileChannel channel = FileChannel.open(input, StandardOpenOption.READ)) {
            for (long done = 0; done < bytes;) {
                int length = (int) Math.min(CHUNK_BYTES, bytes - done);
                TensorView part = local.slice(done, length);
                MemorySegment target = direct ? part.segment() : staging.asSlice(0, length);
                ByteBuffer buffer = target.asByteBuffer();
                while (buffer.hasRemaining()) {
                    if (channel.read(buffer, from + done + buffer.position()) < 0) {
                        throw new UsageException("the input " + input + " became shorter while it was read: " + fileBytes + " bytes at the start, " + channel.size() + " now");
                    }
                }
                if (!direct) {
                    part.copyFrom(target);
                }
                done += length;
                report(length, false);
            }
        }
    }

    /** Blocks until all ranks are here, by whichever signals the backend has. */
    private static void barrier(SymmetricMemory memory, SymmetricTensor tensor) {
        Duration timeout = memory.group().timeout();
        if (memory.capability(Capability.HOST_SIGNALS).supported()) {
            tensor.signals().barrier(0, timeout);
        } else {
            try (Stream stream = memory.newStream()) {
                tensor.signals().barrier(0, stream, timeout);
                stream.synchronize(timeout);
            }
        }
    }

    /** Reads a whole file out of symmetric memory, part by part. */
    private final class Reading {
        private final MessageDigest digest = sha256Digest();
        private long copiedBytes;
        private long copyNanos;

        void read(TensorView part, long bytes, MemorySegment staging, @org.jspecify.annotations.Nullable FileChannel target) throws IOException {
            for (long done = 0; done < bytes;) {
                int length = (int) Math.min(CHUNK_BYTES, bytes - done);
                MemorySegment chunk = staging.asSlice(0, length);
                long start = System.nanoTime();
                part.slice(done, length).copyTo(chunk);
                copyNanos += System.nanoTime() - start;
                copiedBytes += length;
                digest.update(chunk.asByteBuffer());
                if (target != null) {
                    ByteBuffer buffer = chunk.asByteBuffer();
                    while (buffer.hasRemaining()) {
                        target.write(buffer);
                    }
                }
                done += length;
                report(length, false);
            }
        }

        String sha256() {
            return HexFormat.of().formatHex(digest.digest());
        }

        double gigabytesPerSecond() {
            return copyNanos == 0 ? 0 : (double) copiedBytes / copyNanos;
        }
    }

    static MessageDigest sha256Digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private void report(long bytes, boolean now) {
        unreported += bytes;
        if (unreported > 0 && (now || unreported >= 64L << 20)) {
            new RankMessage.Progress(unreported).print();
            unreported = 0;
        }
    }

    private static double seconds(long since) {
        return (System.nanoTime() - since) / 1e9;
    }

    private static long residentKibibytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElse(0);
    }
}
