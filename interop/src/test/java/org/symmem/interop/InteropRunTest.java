package org.symmem.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The driver of the mixed job with a stand-in for PyTorch, which shows that the driver and the Java side work. That PyTorch agrees is
 * shown by {@link org.symmem.rendezvous} tests over captured bytes, and by {@code interop/run} where PyTorch is installed.
 */
class InteropRunTest {
    @TempDir
    private Path folder;

    private Program.End run(String... more) throws Exception {
        List<String> command = new java.util.ArrayList<>(List.of("./run", "--java", Program.ownJava(), "--class-path",
                System.getProperty("java.class.path"), "--output", folder.resolve("ranks").toString()));
        command.addAll(List.of(more));
        return Program.start(folder, Map.of(), command).end();
    }

    @Test
    void aMixedJobOverTheStandInIsRightAndLabelled() throws Exception {
        Program.assumeInstalled("python3");

        Program.End end = run("--stand-in");

        assertThat(end.exitCode()).as(end.output()).isZero();
        assertThat(end.output()).contains("STAND-IN for PyTorch, not PyTorch").doesNotContain("FAILED").endsWith("all right\n");
        assertThat(end.output().lines().filter(line -> line.matches("[a-z-]+( +ok){6} *"))).hasSize(11);
    }

    @Test
    void aJobWhoseJavaRanksDoNotStartFails() throws Exception {
        Program.assumeInstalled("python3");

        Program.End end = run("--stand-in", "--class-path", folder.toString());

        assertThat(end.exitCode()).isEqualTo(2);
        assertThat(end.output()).contains("org.symmem.interop is not on the class path");
    }
}
