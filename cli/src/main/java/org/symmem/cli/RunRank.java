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
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.rendezvous.LocalLauncher;
import org.symmem.spi.HostIdentity;

/** One rank of the main job, in a process of its own. */
final class RunRank {
    /** What is copied at once: stays in the caches between the copy and the digest, and is many times what a copy costs to begin. */
    private static final int CHUNK_BYTES = 1 << 20;
    private static final int LOAD_BYTES = 64 << 20;
    private static final long BLOCK_BYTES = 16 << 20;
    private static final long SYNC_BYTES = 256 << 20;
    private static final long REPORT_NANOS = 250_000_000;
    /** A disk slower than this is not waited for. */
    private static final long SLOWEST_BYTES_A_SECOND = 20 << 20;

    private final Path input;
    private final long fileBytes;
    private final Optional<Path> output;
    private long doneBytes;
    private long totalBytes;
    private long reportedAt = System.nanoTime();

    private RunRank(Path input, long fileBytes, Optional<Path> output) {
        this.input = input;
        this.fileBytes = fileBytes;
        this.output = output;
    }

    /** @param arguments the input, its size in bytes, and the file that rank 0 writes or an empty text */
    public static void main(String[] arguments) {
        Optional<Path> output = arguments[2].isEmpty() ? Optional.empty() : Optional.of(Path.of(arguments[2]));
        LocalLauncher.endWithLauncher(() -> output.ifPresent(RunRank::remove));
        try {
            new RunRank(Path.of(arguments[0]), Long.parseLong(arguments[1]), output).share().print();
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            RankMessage.failure(e).print();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void remove(Path partial) {
        try {
            Files.deleteIfExists(partial);
        } catch (IOException e) {
            // The parent, which would say so, is gone.
        }
    }

    private RankMessage.Result share() throws IOException {
        long start = System.nanoTime();
        try (ProcessGroup group = ProcessGroup.fromEnvironment(); SymmetricMemory memory = SymmetricMemory.open(group)) {
            long granularity = memory.granularityBytes();
            long shardBytes = Math.max(1, Math.ceilDiv(Math.ceilDiv(fileBytes, group.worldSize()), granularity)) * granularity;
            try (SymmetricTensor tensor = memory.allocate(Shape.of(shardBytes), DataType.UINT8); Arena arena = Arena.ofConfined()) {
                return share(memory, tensor, arena.allocate(CHUNK_BYTES, 4096), start);
            }
        }
    }

    private RankMessage.Result share(SymmetricMemory memory, SymmetricTensor tensor, MemorySegment staging, long start) throws IOException {
        int rank = memory.group().rank();
        int worldSize = memory.group().worldSize();
        long shardBytes = tensor.sizeBytes();
        boolean hasView = memory.capability(Capability.CONTIGUOUS_VIEW).supported();
        long ownBytes = bytesOf(rank, shardBytes);
        totalBytes = ownBytes + fileBytes * (hasView ? 2 : 1);

        report(0, true);
        load(tensor.local(), Math.min(fileBytes, rank * shardBytes), ownBytes, staging);
        report(0, true);
        // The ranks' disks may differ in speed.
        Duration patience = memory.group().timeout().plusSeconds(shardBytes / SLOWEST_BYTES_A_SECOND);
        tensor.rendezvous(patience);
        barrier(memory, tensor, patience);

        Reading view = new Reading(staging);
        Reading peers = new Reading(staging);
        long blocks = 0;
        try (FileChannel target = rank == 0 && output.isPresent() ? FileChannel.open(output.get(), StandardOpenOption.WRITE) : null) {
            for (int owner = 0; owner < worldSize; owner++) {
                TensorView ofOwner = tensor.remote(owner);
                Optional<TensorView> inView = hasView ? Optional.of(tensor.contiguousView().select(owner)) : Optional.empty();
                long bytes = bytesOf(owner, shardBytes);
                for (long from = 0; from < bytes; from += BLOCK_BYTES) {
                    long length = Math.min(BLOCK_BYTES, bytes - from);
                    // They may be the same pages, of which the first touch costs more: each is first in half of the blocks.
                    boolean viewFirst = blocks++ % 2 == 0;
                    if (inView.isPresent() && viewFirst) {
                        view.read(inView.get(), from, length, null);
                    }
                    peers.read(ofOwner, from, length, target);
                    if (inView.isPresent() && !viewFirst) {
                        view.read(inView.get(), from, length, null);
                    }
                }
            }
            if (target != null) {
                target.force(true);
            }
        }
        report(0, true);
        if (!memory.capability(Capability.LOCAL_CLOSE).supported()) {
            // All close together, and rank 0 may have had a file to write.
            barrier(memory, tensor, memory.group().timeout().plusSeconds(fileBytes / SLOWEST_BYTES_A_SECOND));
        }
        return new RankMessage.Result(ProcessHandle.current().pid(), HostIdentity.local().name(), memory.backend(), memory.device(),
                ownBytes, (System.nanoTime() - start) / 1e9,
                hasView ? view.sha256() : "", view.gigabytesPerSecond(), peers.sha256(), peers.gigabytesPerSecond(),
                peakResidentKibibytes());
    }

    /** {@return how much of the file is in a rank's buffer} */
    private long bytesOf(int rank, long shardBytes) {
        return Math.clamp(fileBytes - rank * shardBytes, 0L, shardBytes);
    }

    private void load(TensorView local, long from, long bytes, MemorySegment staging) throws IOException {
        boolean direct = local.isHostAccessible();
        try (FileChannel channel = FileChannel.open(input, StandardOpenOption.READ)) {
            for (long done = 0; done < bytes;) {
                int length = (int) Math.min(direct ? LOAD_BYTES : CHUNK_BYTES, bytes - done);
                TensorView part = local.slice(done, length);
                MemorySegment target = direct ? part.segment() : staging.asSlice(0, length);
                ByteBuffer buffer = target.asByteBuffer();
                while (buffer.hasRemaining()) {
                    if (channel.read(buffer, from + done + buffer.position()) < 0) {
                        throw new FailureException(1, "the input " + input + " has changed: it had " + fileBytes
                                + " bytes when the run began, and has " + channel.size() + " now. Share a file that nobody writes");
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
    private static void barrier(SymmetricMemory memory, SymmetricTensor tensor, Duration patience) {
        if (memory.capability(Capability.HOST_SIGNALS).supported()) {
            tensor.signals().barrier(0, patience);
        } else {
            try (Stream stream = memory.newStream()) {
                tensor.signals().barrier(0, stream, patience);
                stream.synchronize(patience);
            }
        }
    }

    /** Reads a whole file out of symmetric memory, part by part, through memory of a bounded size. */
    private final class Reading {
        private final MessageDigest digest = InputFile.newDigest();
        private final MemorySegment staging;
        private long copiedBytes;
        private long copyNanos;
        private long writtenBytes;

        Reading(MemorySegment staging) {
            this.staging = staging;
        }

        void read(TensorView buffer, long from, long bytes, @Nullable FileChannel target) throws IOException {
            for (long at = from; at < from + bytes; at += CHUNK_BYTES) {
                int length = (int) Math.min(CHUNK_BYTES, from + bytes - at);
                MemorySegment chunk = staging.asSlice(0, length);
                long start = System.nanoTime();
                buffer.slice(at, length).copyTo(chunk);
                copyNanos += System.nanoTime() - start;
                copiedBytes += length;
                digest.update(chunk.asByteBuffer());
                if (target != null) {
                    ByteBuffer bytesLeft = chunk.asByteBuffer();
                    while (bytesLeft.hasRemaining()) {
                        target.write(bytesLeft);
                    }
                    writtenBytes += length;
                    if (writtenBytes % SYNC_BYTES < length) {
                        // Everything at the end could take longer than a run may go without progress.
                        target.force(false);
                    }
                }
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

    private void report(long bytes, boolean now) {
        doneBytes += bytes;
        if (now || System.nanoTime() - reportedAt >= REPORT_NANOS) {
            reportedAt = System.nanoTime();
            new RankMessage.Progress(doneBytes, totalBytes).print();
        }
    }

    private static long peakResidentKibibytes() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        }
    }
}
