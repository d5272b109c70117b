package org.symmem.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.symmem.ProcessGroup;

class AgreementTest {
    @Test
    void allStepsTogetherHaveOneTimeout() {
        List<Duration> allowed = new ArrayList<>();
        Agreement agreement = new Agreement(new Alone(allowed), "trying", "a test", () -> "no device", Duration.ofHours(1));

        agreement.check("the first step", () -> {});
        agreement.check("the second step", () -> {});

        assertThat(allowed.getFirst()).isLessThan(Duration.ofHours(1));
        assertThat(allowed.getLast()).isLessThan(allowed.getFirst());
    }

    @Test
    void aTimeoutThatHasPassedLeavesNoTime() {
        List<Duration> allowed = new ArrayList<>();

        new Agreement(new Alone(allowed), "trying", "a test", () -> "no device", Duration.ofNanos(1)).check("a step", () -> {});

        assertThat(allowed).containsExactly(Duration.ZERO);
    }

    /** One rank, which notes how long it may wait. */
    private record Alone(List<Duration> allowed) implements ProcessGroup {
        @Override
        public String name() {
            return "alone";
        }

        @Override
        public int rank() {
            return 0;
        }

        @Override
        public int worldSize() {
            return 1;
        }

        @Override
        public int localRank() {
            return 0;
        }

        @Override
        public Duration timeout() {
            return Duration.ZERO;
        }

        @Override
        public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
            allowed.add(timeout);
            return List.of(contribution);
        }

        @Override
        public ProcessGroup subgroup(int... ranks) {
            return this;
        }

        @Override
        public void close() {}
    }
}
