package org.symmem.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;

/**
 * The file that is shared, as it was when the run began.
 *
 * @param path      where
 * @param sizeBytes its size
 * @param modified  when it was last written
 * @param key       which file it is, whatever its name
 */
record InputFile(Path path, long sizeBytes, FileTime modified, Optional<Object> key) {
    private static final int CHUNK_BYTES = 1 << 20;

    static InputFile at(Path path) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            if (attributes.isDirectory()) {
                throw new UsageException("the input " + path + " is a directory; name a file");
            }
            if (!attributes.isRegularFile()) {
                throw new UsageException("the input " + path
                        + " is not a regular file, so it has no size that ranks could share out; copy it to a file first");
            }
            if (!Files.isReadable(path)) {
                throw new UsageException("the input " + path + " cannot be read by this user");
            }
            return new InputFile(path.toAbsolutePath(), attributes.size(), attributes.lastModifiedTime(),
                    Optional.ofNullable(attributes.fileKey()));
        } catch (NoSuchFileException e) {
            throw new UsageException("the input " + path + " does not exist");
        } catch (IOException e) {
            throw new UsageException("the input " + path + " cannot be read: " + e);
        }
    }

    /** {@return the largest file of the running Java, which every machine that runs this has} */
    static InputFile ofThisJava() {
        Path home = Path.of(System.getProperty("java.home"));
        Path modules = home.resolve("lib").resolve("modules");
        if (Files.isReadable(modules)) {
            return at(modules);
        }
        try (var files = Files.walk(home)) {
            return at(files.filter(file -> Files.isRegularFile(file) && Files.isReadable(file))
                    .max(Comparator.comparingLong(file -> file.toFile().length()))
                    .orElseThrow(() -> new UsageException("this Java has no file to share; name one with --input")));
        } catch (IOException | UncheckedIOException e) {
            throw new UsageException("the files of this Java cannot be listed (" + e + "); name a file with --input");
        }
    }

    /** {@return its digest in hexadecimal} Reads all of it. */
    String sha256() throws IOException {
        MessageDigest digest = newDigest();
        long bytes = 0;
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer buffer = ByteBuffer.allocate(CHUNK_BYTES);
            for (int length = channel.read(buffer); length >= 0; length = channel.read(buffer)) {
                bytes += length;
                digest.update(buffer.flip());
                buffer.clear();
            }
        }
        if (bytes != sizeBytes) {
            throw new FailureException(1, "the input " + path + " has changed: it had " + sizeBytes + " bytes when the run began, and "
                    + bytes + " could be read. Share a file that nobody writes");
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Makes sure that nobody has written it since the run began. */
    void requireUnchanged() {
        InputFile now = at(path);
        if (!Objects.equals(now, this)) {
            throw new FailureException(1,
                    "the input " + path + " has changed while it was shared: it had " + sizeBytes + " bytes and was written " + modified
                            + ", now it has " + now.sizeBytes
                            + " bytes and was written " + now.modified + ". Share a file that nobody writes");
        }
    }

    static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
