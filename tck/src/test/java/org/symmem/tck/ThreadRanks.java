package org.symmem.tck;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.symmem.KeyValueStore;
import org.symmem.LiveAllocation;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemory;
import org.symmem.rendezvous.InMemoryStore;
import org.symmem.rendezvous.ProcessGroups;

/**
 * The rules with threads of this process as ranks: for wrong backends that neither end a process nor are about what one holds.
 * A thread that waits in vain for a rank that failed is left behind; it ends at its own deadline.
 */
final class ThreadRanks {
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final Duration RULE = Duration.ofSeconds(20);
    /** Fixed, so that no wrong byte is by chance the right one. */
    private static final long SEED = 20_250_101;

    private final String backend;
    private final int worldSize;

    static {
        // What one rank waits for in vain here is the mistake of another, which is there already.
        System.setProperty(TckSettings.TIMEOUT_MULTIPLIER, "0.1");
        try {
            if (RankContext.SOON.compareTo(PATIENCE) > 0) {
                throw new IllegalStateException("the ranks' patience was fixed before: " + RankContext.SOON);
            }
        } finally {
            System.clearProperty(TckSettings.TIMEOUT_MULTIPLIER);
        }
    }

    ThreadRanks(String backend, int worldSize) {
        this.backend = backend;
        this.worldSize = worldSize;
    }

    /** {@return what the first rank says by which a rule is broken; empty if it is kept} */
    List<String> judge(String rule) throws Exception {
        RankBody body = bodyOf(rule);
        KeyValueStore store = new InMemoryStore();
        record Verdict(int rank, List<String> complaints) {}
        BlockingQueue<Verdict> verdicts = new LinkedBlockingQueue<>();
        for (int rank = 0; rank < worldSize; rank++) {
            int own = rank;
            Thread.ofPlatform()
                    .daemon()
                    .name("rank " + rank + " of " + rule)
                    .start(() -> verdicts.add(new Verdict(own, run(store, own, rule, body))));
        }
        long deadline = System.nanoTime() + RULE.toNanos();
        for (int heard = 0; heard < worldSize; heard++) {
            Verdict verdict = verdicts.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (verdict == null) {
                return List.of("no answer within " + RULE.toSeconds() + " s");
            }
            if (!verdict.complaints().isEmpty()) {
                return verdict.complaints();
            }
        }
        return List.of();
    }

    private List<String> run(KeyValueStore store, int rank, String rule, RankBody body) {
        try (ProcessGroup group = ProcessGroups.over(store, "world", rank, worldSize, rank, PATIENCE);
                SymmetricMemory memory = SymmetricMemory.open(group, SymmetricMemory.Options.defaults().withBackend(backend))) {
            RankContext context = new RankContext(memory, store, rule, SEED);
            body.run(context);
            context.closeAll();
            return memory.liveAllocations().stream().map(LiveAllocation::tensor).map(left -> "left behind: " + left).toList();
        } catch (AssertionError e) {
            return List.of(String.valueOf(e.getMessage()));
        } catch (Exception | LinkageError e) {
            return List.of(e.toString());
        }
    }

    /** {@return what each rank does in a rule} */
    private static RankBody bodyOf(String rule) throws Exception {
        RankBody[] taken = new RankBody[1];
        BackendRules rules = (BackendRules) Proxy.newProxyInstance(ThreadRanks.class.getClassLoader(), new Class<?>[]{BackendRules.class},
                (proxy, method, arguments) -> method.isDefault()
                        ? java.lang.reflect.InvocationHandler.invokeDefault(proxy, method, arguments)
                        : new Rules.RuleRun() {
                            @Override
                            public void run(RankBody body) {
                                taken[0] = body;
                            }

                            @Override
                            public void runUntilLastIsKilled(RankBody body) {
                                throw new IllegalArgumentException(rule + " kills a rank, which a thread cannot be");
                            }

                            @Override
                            public void note(String text) {}
                        });
        Stream.of(BackendRules.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class) && method.getAnnotation(Rule.class).value().equals(rule))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no rule " + rule))
                .invoke(rules);
        return taken[0];
    }

    /** All rules. */
    interface BackendRules
            extends
                CapabilityRules,
                AllocationRules,
                RendezvousRules,
                AccessRules,
                SynchronisationRules,
                MulticastRules,
                ContiguousViewRules,
                LifecycleRules,
                CollectiveRules,
                LoadRules {}
}
