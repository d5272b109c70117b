package org.symmem.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PythonPackagesTest {
    @TempDir
    private Path folder;

    private Path packagesOf(String environment) throws Exception {
        Path packages = Files.createDirectories(folder.resolve(environment).resolve("lib/python3.12/site-packages"));
        Path bin = Files.createDirectories(folder.resolve(environment).resolve("bin"));
        assertThat(Files.createFile(bin.resolve("python3")).toFile().setExecutable(true)).isTrue();
        return packages;
    }

    @Test
    void theEnvironmentInUseComesFirstThenThePythonOnThePath() throws Exception {
        Path active = packagesOf("active");
        Path onPath = packagesOf("on-path");

        assertThat(PythonPackages.folders(Map.of("VIRTUAL_ENV", folder.resolve("active").toString(), "PATH",
                "relative:" + folder.resolve("empty") + ":" + folder.resolve("on-path/bin")))).startsWith(active, onPath);
    }

    @Test
    void aFolderThatIsNotThereHoldsNothing() {
        assertThat(PythonPackages.inside(folder.resolve("missing"), "*")).isEmpty();
    }
}
