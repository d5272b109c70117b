package org.symmem.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.rendezvous.InMemoryStore;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.spi.Agreement;
import org.symmem.spi.HostIdentity;

class HandleChoiceTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void ranksOnDifferentHostsWithoutFabricAreRefusedAlikeAndAtOnce() throws Exception {
        String before = live();

        List<String> answers = choose(List.of(new HostIdentity("alpha", "boot-1"), new HostIdentity("beta", "boot-2")));

        assertThat(answers).allSatisfy(answer -> assertThat(answer).startsWith("ranks are on different hosts (alpha, beta), between which "
                + "POSIX descriptors cannot be handed over, and rank 0 on host alpha has no fabric handles: cuMemCreate failed: "
                + "CUDA_ERROR_NOT_PERMITTED (800), trying a fabric handle").contains("Use a group for each host"));
        assertThat(live()).isEqualTo(before);
    }

    @Test
    void ranksOfOneHostUseDescriptors() throws Exception {
        HostIdentity one = new HostIdentity("alpha", "boot-1");

        assertThat(choose(List.of(one, one))).allSatisfy(answer -> assertThat(answer).startsWith("POSIX descriptors by "));
    }

    private static String live() {
        try (CudaDevice device = CudaDevice.forLocalRank(0)) {
            return EmulatedDriver.live();
        }
    }

    private static List<String> choose(List<HostIdentity> hosts) throws Exception {
        KeyValueStore store = new InMemoryStore();
        try (ExecutorService threads = Executors.newFixedThreadPool(hosts.size())) {
            List<Callable<String>> ranks = new java.util.ArrayList<>();
            for (int rank = 0; rank < hosts.size(); rank++) {
                int own = rank;
                ranks.add(() -> choose(store, own, hosts));
            }
            List<String> answers = new java.util.ArrayList<>();
            for (Future<String> answer : threads.invokeAll(ranks)) {
                answers.add(answer.get());
            }
            return answers;
        }
    }

    private static String choose(KeyValueStore store, int rank, List<HostIdentity> hosts) {
        try (ProcessGroup group = ProcessGroups.over(store, "choice", rank, hosts.size(), rank, SOON);
                CudaDevice device = CudaDevice.forLocalRank(0);
                HandleExchange handles = HandleChoice.among(new Agreement(group, "choosing", "a test", device::toString, SOON), device,
                        hosts.get(rank))) {
            return handles.describe();
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
