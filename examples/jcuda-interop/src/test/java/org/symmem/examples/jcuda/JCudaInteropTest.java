package org.symmem.examples.jcuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.rendezvous.LocalLauncher;

/** The example over the emulated driver, in two processes: what it shows is emulated. */
class JCudaInteropTest {
    @TempDir
    private Path temporary;

    @Test
    void twoRanksReadBuffersOfJCudaOnAStreamOfJCuda() throws Exception {
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "JCuda has natives for x86-64 alone");
        Path driver = Path.of("../../emulation/target/cuda").toAbsolutePath().normalize();
        assertThat(driver.resolve("libcuda.so.1")).exists();
        var lines = new ConcurrentLinkedQueue<String>();

        LocalLauncher.Outcome outcome = new LocalLauncher(2, Map.of("LD_LIBRARY_PATH", driver.toString()),
                (rank, line, isError) -> lines.add(line))
                .run(rank -> JavaCommand.of(List.of("-Xcheck:jni", "-Djava.io.tmpdir=" + temporary,
                        "-Dsymmem.cuda.path=" + driver.resolve("libcuda.so.1")), JCudaInterop.class, List.of()));

        assertThat(outcome.failedRank()).as(outcome.failure() + lines).isEmpty();
        assertThat(lines).anyMatch(line -> line.startsWith("rank 0 of 2: JCuda's buffer of rank 1 is right"))
                .anyMatch(line -> line.startsWith("rank 1 of 2: JCuda's buffer of rank 0 is right"));
        assertThat(Stream.of(temporary.toFile().list())).as("left in the temporary folder").noneMatch(name -> name.contains("jcuda"));
    }
}
