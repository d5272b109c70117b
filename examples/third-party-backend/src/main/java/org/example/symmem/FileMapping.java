package org.example.symmem;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;

/** Every rank's file, mapped. */
final class FileMapping implements PeerMapping {
    private final MemorySegment[] files;
    private final long sizeBytes;
    private final SignalPad pad;
    private final Arena peers;

    FileMapping(MemorySegment[] files, long sizeBytes, long dataBytes, int rank, SignalPadLayout layout, Arena peers) {
        this.files = files;
        this.sizeBytes = sizeBytes;
        this.pad = new FileSignalPad(layout, rank, Stream.of(files).map(file -> file.asSlice(dataBytes)).toArray(MemorySegment[]::new));
        this.peers = peers;
    }

    @Override
    public Memory peer(int rank) {
        return Memory.of(files[rank].asSlice(0, sizeBytes));
    }

    @Override
    public SignalPad signals() {
        return pad;
    }

    @Override
    public void close() {
        peers.close();
    }
}
