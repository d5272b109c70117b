package org.example.symmem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPadLayout;

/** One rank's buffer: a file with the data, rounded up to whole pages, and behind it the signal pad. */
final class FileAllocation implements Allocation {
    private final int rank;
    private final long sizeBytes;
    private final long dataBytes;
    private final SignalPadLayout padLayout;
    private final SharedFile file;
    private final Arena arena;
    private final MemorySegment own;

    private FileAllocation(int rank, long sizeBytes, long dataBytes, SignalPadLayout padLayout, SharedFile file, Arena arena,
            MemorySegment own) {
        this.rank = rank;
        this.sizeBytes = sizeBytes;
        this.dataBytes = dataBytes;
        this.padLayout = padLayout;
        this.file = file;
        this.arena = arena;
        this.own = own;
    }

    static FileAllocation allocate(int rank, long sizeBytes, long pageBytes, SignalPadLayout padLayout) {
        long dataBytes = (sizeBytes + pageBytes - 1) / pageBytes * pageBytes;
        Arena arena = Arena.ofShared();
        try {
            SharedFile file = SharedFile.create();
            try {
                MemorySegment own = file.map(dataBytes + padLayout.sizeBytes(), arena);
                // Before anybody can see it.
                padLayout.writeHeader(own.asSlice(dataBytes));
                return new FileAllocation(rank, sizeBytes, dataBytes, padLayout, file, arena, own);
            } catch (IOException | RuntimeException | OutOfMemoryError e) {
                file.close();
                throw e;
            }
        } catch (IOException | OutOfMemoryError e) {
            arena.close();
            throw new SymmetricMemoryException(ErrorCode.RESOURCE_LIMIT,
                    "a file for a buffer of " + sizeBytes + " bytes cannot be mapped: " + e, e);
        }
    }

    @Override
    public Memory local() {
        return Memory.of(own.asSlice(0, sizeBytes));
    }

    @Override
    public PeerMapping rendezvous(Agreement agreement) {
        List<byte[]> names = agreement.step("naming the files", () -> file.path().toString().getBytes(StandardCharsets.UTF_8));
        Arena peers = Arena.ofShared();
        try {
            MemorySegment[] all = new MemorySegment[names.size()];
            agreement.check("mapping the peers' files", () -> {
                for (int peer = 0; peer < all.length; peer++) {
                    all[peer] = peer == rank ? own : mapped(names.get(peer), peers);
                    padLayout.checkHeader(all[peer].asSlice(dataBytes), peer);
                }
            });
            // All have mapped it, so nobody needs its name, and no death can leave it behind.
            file.close();
            return new FileMapping(all, sizeBytes, dataBytes, rank, padLayout, peers);
        } catch (IOException e) {
            peers.close();
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            peers.close();
            throw e;
        }
    }

    private MemorySegment mapped(byte[] name, Arena peers) {
        try {
            return new SharedFile(Path.of(new String(name, StandardCharsets.UTF_8))).map(own.byteSize(), peers);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        arena.close();
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
