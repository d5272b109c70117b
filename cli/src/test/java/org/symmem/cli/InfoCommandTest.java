package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InfoCommandTest {
    @AfterEach
    void forgetSettings() {
        System.clearProperty("symmem.backend");
        System.clearProperty("symmem.host.disabled");
    }

    @Test
    void backendsCapabilitiesAndTheChoiceAreSaidTwiceAlike() {
        Symmem.Result first = Symmem.here("info");

        assertThat(first.exitCode()).as(first.err()).isZero();
        assertThat(first.out()).contains("chosen       ", "host (priority 0): available, Linux", "HOST_ACCESS       yes",
                "MULTICAST         no   no multicast on host memory");
        assertThat(first.err()).isEmpty();
        assertThat(Symmem.here("info")).isEqualTo(first);
    }

    @Test
    void jsonSaysTheSame() throws Exception {
        JsonNode info = new ObjectMapper().readTree(Symmem.here("info", "--json").out());

        JsonNode host = info.get("backends")
                .valueStream()
                .filter(backend -> backend.get("name").asText().equals("host"))
                .findFirst()
                .orElseThrow();
        assertThat(host.get("available").asBoolean()).isTrue();
        assertThat(host.at("/capabilities/CONTIGUOUS_VIEW/supported").asBoolean()).isTrue();
        assertThat(host.at("/capabilities/MULTICAST/explanation").asText()).isEqualTo("no multicast on host memory");
    }

    @Test
    void anUnavailableBackendHasAReasonAndIsNotChosen() throws Exception {
        System.setProperty("symmem.host.disabled", "true");
        System.setProperty("symmem.backend", "host");

        Symmem.Result result = Symmem.here("info");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("chosen       none: the property symmem.backend asks for host, which is unavailable",
                "unavailable: switched off by symmem.host.disabled");
    }

    @Test
    void helpAndVersionAreThere() {
        assertThat(Symmem.here("--version").out()).matches("symmem \\d+\\.\\d+.*\\R");
        for (String command : new String[]{"run", "info", "tck", "launch", "bundle"}) {
            assertThat(Symmem.here(command, "--help").out()).contains("Usage: symmem " + command, "Examples:", "Exit codes:");
        }
        assertThat(Symmem.here().exitCode()).isEqualTo(2);
        assertThat(Symmem.here("bogus").exitCode()).isEqualTo(2);
    }
}
