package org.symmem.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.symmem.rendezvous.JavaCommand;

/** What the backend answers where driver, device or library are missing or wrong: the rule SM-CAP-8. Each answer in its own process, twice. */
@Execution(ExecutionMode.CONCURRENT)
class AvailabilityTest {
    /** Asks twice, since a library that cannot be loaded fails in another way the second time. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] arguments) {
            System.out.println(new CudaBackendProvider().availability());
            System.out.println(new CudaBackendProvider().availability());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            CUDA_VISIBLE_DEVICES             |                                     | no CUDA device is visible: CUDA_VISIBLE_DEVICES is
            SYMMEM_EMULATION_DEVICES         | 0                                   | no CUDA device is visible
            SYMMEM_EMULATION_DRIVER_VERSION  | 11060                               | driver 11.6 is older than 11.7, which this backend needs
            SYMMEM_EMULATION_FAIL            | call=cuInit,occurrence=*,code=999   | cuInit failed: CUDA_ERROR_UNKNOWN (999), initialising the driver
            SYMMEM_EMULATION_FAIL            | call=cuMemCreate,occurrence=*,code=801 | cuMemCreate failed: CUDA_ERROR_NOT_SUPPORTED (801), trying one granule
            SYMMEM_EMULATION_FAIL            | call=cuMemExportToShareableHandle,occurrence=*,code=801 | CUDA_ERROR_NOT_SUPPORTED (801), trying to export
            """)
    void whatTheDriverRefusesIsTheReason(String variable, String value, String reason) throws Exception {
        assertAnswers(Map.of(variable, value == null ? "" : value), System.getProperty(CudaLibrary.PATH_PROPERTY), reason);
    }

    @Test
    void aLibraryThatIsNotThereIsTheReason() throws Exception {
        assertAnswers(Map.of(), "/nowhere/libcuda.so.1", "/nowhere/libcuda.so.1 not found by the dynamic loader");
    }

    @Test
    void aLibraryThatIsNoDriverIsTheReason() throws Exception {
        assertAnswers(Map.of(), "libm.so.6", "libm.so.6 is no CUDA driver: it lacks cuInit");
    }

    @Test
    void anOlderDriverWithoutMulticastIsEnough() throws Exception {
        String old = System.getProperty(CudaLibrary.PATH_PROPERTY).replace("libcuda.so.1", "old/libcuda.so.1");

        assertThat(answers(Map.of(), old)).hasSize(2).allMatch(answer -> answer.contains("driver 12.0") && answer.contains("Emulated"));
    }

    private static void assertAnswers(Map<String, String> environment, String library, String reason) throws Exception {
        assertThat(answers(environment, library)).hasSize(2)
                .allSatisfy(answer -> assertThat(answer).startsWith("Unavailable[").contains(reason));
    }

    private static List<String> answers(Map<String, String> environment, String library) throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>(JavaCommand.of(List.of("-XX:TieredStopAtLevel=1"), Probe.class, List.of()));
        command.add(command.indexOf("-cp"), "-D" + CudaLibrary.PATH_PROPERTY + "=" + library);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output.lines().toList();
    }
}
