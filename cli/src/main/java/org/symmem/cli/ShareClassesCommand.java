package org.symmem.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Makes the archive of classes that the script starts this command and its ranks with. Called by the script and by {@code bundle}. */
@Command(name = "share-classes", hidden = true, description = "Make the archive of classes that this command and its ranks start faster with. The build and symmem bundle do so by themselves.")
final class ShareClassesCommand implements Callable<Integer> {
    /** What ranks do in these is what they load classes for. */
    private static final List<String> RULES = List.of("SM-ALLOC-1", "SM-SYNC-3", "SM-ACC-9", "SM-COLL-1");

    @Parameters(paramLabel = "FILE", description = "the archive")
    private Path archive;

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Path> jars = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of).toList();
        String program = Main.class.getName();
        new ClassArchive(Path.of(System.getProperty("java.home"), "bin", "java"), jars).make(archive, List.of(
                List.of(program, "tck", "--ranks", "1", "--report", "report", "--rule", String.join(",", RULES)),
                List.of(program, "run", "--ranks", "1", "--input", jars.getFirst().toString())));
        System.out.println(archive + ": " + Files.size(archive) / (1 << 20) + " MiB");
        return 0;
    }
}
