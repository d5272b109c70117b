package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleCommandTest {
    @TempDir
    private Path folder;

    @Test
    void aBundleHasARuntimeThatRunsTheJarsAndTheScript() throws Exception {
        Path jar = Path.of(ObjectMapper.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String classPath = System.setProperty("java.class.path", jar.toString());
        Path bundle = folder.resolve("bundle");
        try {
            Symmem.Result result = Symmem.here("bundle", bundle.toString());

            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains(bundle + ": ", " MiB, the runtime ");
        } finally {
            System.setProperty("java.class.path", classPath);
        }
        assertThat(bundle.resolve("symmem")).isExecutable();
        assertThat(bundle.resolve("lib").resolve(jar.getFileName())).hasSameBinaryContentAs(jar);
        Process java = new ProcessBuilder(bundle.resolve("runtime/bin/java").toString(), "-version").start();
        assertThat(java.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(java.exitValue()).isZero();
    }

    @Test
    void whatIsThereIsNotOverwritten() throws Exception {
        Path there = Files.createDirectory(folder.resolve("there"));

        Symmem.Result result = Symmem.here("bundle", there.toString());

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains(there + " exists already");
        assertThat(there).isEmptyDirectory();
    }

    @Test
    void classesThatAreNotInAJarAreAReasonAndLeaveNothing() {
        String classPath = System.setProperty("java.class.path", folder.toString());
        try {
            Symmem.Result result = Symmem.here("bundle", folder.resolve("bundle").toString());

            assertThat(result.exitCode()).isEqualTo(2);
            assertThat(result.err()).contains(folder + " on the class path is no jar");
            assertThat(folder.resolve("bundle")).doesNotExist();
        } finally {
            System.setProperty("java.class.path", classPath);
        }
    }
}
