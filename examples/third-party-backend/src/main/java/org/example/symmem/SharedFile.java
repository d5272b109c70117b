package org.example.symmem;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/** A file by whose name other ranks find a buffer. The mapping needs neither the file's name nor a descriptor. */
record SharedFile(Path path) implements AutoCloseable {
    static SharedFile create() throws IOException {
        Path memory = Path.of("/dev/shm");
        Path folder = Files.isWritable(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir"));
        return new SharedFile(Files.createTempFile(folder, "symmem-file-", "",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))));
    }

    Path folder() {
        return path.getParent();
    }

    /** {@return the file's bytes, which are zero when it is new; it grows to the size} */
    MemorySegment map(long sizeBytes, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, sizeBytes, arena);
        }
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(path);
    }
}
