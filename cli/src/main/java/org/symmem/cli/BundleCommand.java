package org.symmem.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes a folder that runs where there is no Java. */
@Command(name = "bundle", description = {
    "Make a folder with a Java runtime, the jars and the symmem script, for hosts without Java.",
    "%nThe runtime is made by jlink and has what the command needs, no more. Copy the folder, or the archive, to a host with the same processor and C library, and run ./symmem in it."
}, footerHeading = "%nExamples:%n", footer = {"  symmem bundle build/symmem", "  symmem bundle build/symmem --archive symmem.tar.xz",
    "  ssh gpuhost 'tar xJf symmem.tar.xz && ./symmem/symmem info'"}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {
        "0:made", "1:a file cannot be written, or jlink fails", "2:an option is wrong, or this Java has no jlink"})
final class BundleCommand implements Callable<Integer> {
    /** What the command, its libraries and the kit use; charts are drawn where there is a whole JDK. */
    private static final String MODULES = "java.base,java.logging,java.xml,java.management,java.naming,jdk.unsupported,jdk.management";

    @Parameters(paramLabel = "DIR", description = "the folder to make; it must not exist")
    private Path folder;

    @Option(names = "--archive", paramLabel = "FILE", description = "also pack it, as .tar.xz, .tar.gz or .tar, with the tar command")
    private @Nullable Path archive;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path script = Home.folder()
                .map(home -> home.resolve("symmem"))
                .filter(Files::isExecutable)
                .orElseThrow(() -> new UsageException("the bundle needs the symmem script, and this was not started by it"));
        ToolProvider jlink = ToolProvider.findFirst("jlink")
                .orElseThrow(() -> new UsageException("the Java at " + System.getProperty("java.home") + " has no jlink; use a JDK 25"));
        if (Files.exists(folder)) {
            throw new UsageException(folder + " exists already; name a folder that does not");
        }
        List<Path> jars = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of).toList();
        jars.stream().filter(jar -> !Files.isRegularFile(jar)).findFirst().ifPresent(path -> {
            throw new UsageException(path + " on the class path is no jar; start symmem by its script");
        });
        Files.createDirectories(folder);
        try {
            link(jlink, folder.resolve("runtime"));
            Path lib = Files.createDirectory(folder.resolve("lib"));
            for (Path jar : jars) {
                Files.copy(jar, lib.resolve(jar.getFileName()));
            }
            Files.copy(script, folder.resolve("symmem"), StandardCopyOption.COPY_ATTRIBUTES);
            shareClasses(folder, lib);
        } catch (IOException | RuntimeException e) {
            Folders.delete(folder);
            throw e;
        }
        System.out.println(folder + ": " + mebibytes(folder) + " MiB, the runtime " + mebibytes(folder.resolve("runtime")) + ", the jars "
                + mebibytes(folder.resolve("lib")));
        if (archive != null) {
            pack(archive);
            System.out.println(archive + ": " + mebibytes(archive) + " MiB");
        }
        return 0;
    }

    private static void link(ToolProvider jlink, Path runtime) {
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int code = jlink.run(out, out, "--add-modules", MODULES, "--strip-debug", "--no-header-files", "--no-man-pages", "--compress",
                "zip-6", "--output", runtime.toString());
        if (code != 0) {
            throw new FailureException(1, "jlink failed with exit code " + code + ": " + said);
        }
    }

    /** Without the archive everything works, and starts more slowly: a runtime that jlink made has none of its own. */
    private static void shareClasses(Path folder, Path lib) throws IOException, InterruptedException {
        Process made = new ProcessBuilder(folder.resolve("symmem").toAbsolutePath().toString(), "share-classes",
                lib.resolve("classes-" + Runtime.version().feature() + ".jsa").toAbsolutePath().toString()).redirectErrorStream(true)
                .start();
        String said = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (made.waitFor() != 0) {
            System.err.println("the bundle starts more slowly than it could, for its classes could not be archived: " + said.strip());
        }
    }

    private void pack(Path file) throws IOException, InterruptedException {
        Path absolute = folder.toAbsolutePath().normalize();
        Process tar = new ProcessBuilder("tar", "--auto-compress", "--create", "--file", file.toAbsolutePath().toString(), "--directory",
                absolute.getParent().toString(), absolute.getFileName().toString()).inheritIO().start();
        if (tar.waitFor() != 0) {
            throw new FailureException(1, "tar ended with exit code " + tar.exitValue() + "; " + folder + " is complete");
        }
    }

    private static long mebibytes(Path path) throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            return Math.ceilDiv(all.filter(Files::isRegularFile).mapToLong(BundleCommand::size).sum(), 1 << 20);
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
