package org.symmem.nvshmem;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.symmem.nvshmem.EmulatedNvshmem.bytes;
import static org.symmem.nvshmem.EmulatedNvshmem.checkShares;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.symmem.Capability;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.UnsupportedCapabilityException;
import org.symmem.rendezvous.InMemoryStore;
import org.symmem.tck.RankJob;

/** How the library is started: once a process, on all ranks or on none; over the emulated library. */
class StartTest {
    @Test
    void aStartThatFailsOnOneRankFailsOnAllAndNamesIt() {
        failing("call=nvshmemx_hostlib_init_attr,rank=1,code=7", "could not open the backend", "failed on all ranks because of",
                "rank 1 on host", "nvshmemx_hostlib_init_attr failed: NVSHMEMX_ERROR_INTERNAL (7)");
    }

    @Test
    void aUniqueIdThatCannotBeMadeFailsOnAllAndNamesThePlugin() {
        failing("call=nvshmemx_get_uniqueid,code=7", "rank 0", "nvshmemx_get_uniqueid failed: NVSHMEMX_ERROR_INTERNAL (7)",
                "nvshmem_bootstrap_uid.so.3");
    }

    @Test
    void aStartThatNeverReturnsEndsAtTheDeadline() {
        failing("call=nvshmemx_hostlib_init_attr,rank=0,code=hang", "the start of NVSHMEM did not return within");
    }

    private static void failing(String rule, String... parts) {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.impatient(Map.of("SYMMEM_EMULATION_NVSHMEM_FAIL", rule)))) {
            assertThatThrownBy(() -> ranks.run("start", rank -> {})).hasMessageContainingAll(parts);
        }
    }

    @Test
    void groupsOfAllRanksShareTheOneWorldAndSomeOfTheRanksHaveNone() {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, Map.of()))) {
            ranks.run("groups", rank -> {
                try (SymmetricMemory second = SymmetricMemory.open(rank.freshGroup(), rank.options());
                        SymmetricTensor tensor = bytes(second, 500)) {
                    checkShares(rank, tensor, 1);
                }
                rank.check(!rank.memory().capability(Capability.SUBGROUPS).supported(), "subgroups");
                try (ProcessGroup alone = rank.freshGroup().subgroup(rank.rank())) {
                    rank.checkThrows(UnsupportedCapabilityException.class, () -> SymmetricMemory.open(alone, rank.options()), "SUBGROUPS",
                            "NVSHMEM allocates with all its PEs");
                }
            });
        }
    }

    @Test
    void threadsOfAProcessAreRefused() {
        try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(1, 1, Map.of()))) {
            ranks.run("threads", rank -> {
                KeyValueStore store = new InMemoryStore();
                try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                    List<Future<?>> both = new ArrayList<>();
                    for (int thread = 0; thread < 2; thread++) {
                        int own = thread;
                        both.add(threads.submit(() -> {
                            try (ProcessGroup group = rank.threadGroup(store, own, 2)) {
                                rank.checkThrows(UnsupportedCapabilityException.class, () -> SymmetricMemory.open(group, rank.options()),
                                        "ranks 0 and 1 are threads of one process");
                            }
                        }));
                    }
                    for (Future<?> one : both) {
                        one.get();
                    }
                }
            });
        }
    }

    @Test
    void twoJobsOnOneHostStayApart() throws Exception {
        try (ExecutorService jobs = Executors.newFixedThreadPool(2)) {
            List<Future<?>> both = new ArrayList<>();
            for (int job = 0; job < 2; job++) {
                Path output = Path.of("target", "tck", "job-" + job);
                both.add(jobs.submit(() -> {
                    try (RankJob ranks = new RankJob(EmulatedNvshmem.settings(2, 1, Map.of()).withOutput(output))) {
                        ranks.run("job", rank -> {
                            for (int round = 0; round < 20; round++) {
                                try (SymmetricTensor tensor = bytes(rank.memory(), 10_000)) {
                                    checkShares(rank, tensor, round);
                                }
                            }
                        });
                    }
                }));
            }
            for (Future<?> one : both) {
                one.get();
            }
        }
    }
}
