package org.symmem.cli;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The file that rank 0 writes: under another name beside it until every rank has verified, so that no reader ever sees a part of
 * it. The other name is removed when this is closed and when the process is ended.
 */
final class OutputFile implements AutoCloseable {
    private final Path target;
    private final Path partial;
    private final Thread atExit;

    private OutputFile(Path target, Path partial) {
        this.target = target;
        this.partial = partial;
        this.atExit = new Thread(this::remove);
    }

    /** Makes sure, before any work, that it can be written. */
    static OutputFile at(Path output, InputFile input) {
        Path target;
        try {
            // A link stays, and what it leads to is replaced.
            target = Files.exists(output) ? output.toRealPath() : output.toAbsolutePath().normalize();
            if (Files.exists(target)) {
                if (Files.isSameFile(target, input.path())) {
                    throw new UsageException("the output " + output + " is the input itself; name another file");
                }
                if (Files.isDirectory(target)) {
                    throw new UsageException("the output " + output + " is a directory; name a file in it");
                }
                if (!Files.isRegularFile(target) || !Files.isWritable(target)) {
                    throw new UsageException("the output " + output + " is there already, and is not a regular file that may be replaced");
                }
            }
            if (target.getFileName() == null) {
                throw new UsageException("the output " + output + " has no file name");
            }
            if (!Files.isDirectory(target.getParent())) {
                throw new UsageException("the output " + output + " cannot be written: there is no directory " + target.getParent());
            }
            Path partial = target.resolveSibling("." + target.getFileName() + ".symmem-" + ProcessHandle.current().pid());
            Files.createFile(partial);
            OutputFile file = new OutputFile(target, partial);
            Runtime.getRuntime().addShutdownHook(file.atExit);
            return file;
        } catch (AccessDeniedException e) {
            throw new UsageException("the output " + output + " cannot be written: this user may not make files in its directory");
        } catch (IOException e) {
            throw new UsageException("the output " + output + " cannot be written: no file can be made in its directory: " + e);
        }
    }

    /** {@return where rank 0 writes; the file is there already} */
    Path partial() {
        return partial;
    }

    /** Gives the file its name; it is whole and on the disk. */
    void complete() throws IOException {
        Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        // The name lasts, too, only when its directory is on the disk.
        try (FileChannel directory = FileChannel.open(target.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    @Override
    public void close() {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is ending, so the hook runs.
        }
    }

    private void remove() {
        try {
            Files.deleteIfExists(partial);
        } catch (IOException e) {
            System.err.println("symmem: " + partial + " is left over and could not be removed: " + e);
        }
    }
}
