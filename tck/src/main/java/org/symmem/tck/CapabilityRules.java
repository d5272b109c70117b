package org.symmem.tck;

import java.util.List;
import org.symmem.Availability;
import org.symmem.Capability;
import org.symmem.ErrorCode;
import org.symmem.RanksDisagreeException;
import org.symmem.Support;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;

/** Group A: capabilities and selection. */
interface CapabilityRules extends Rules {
    /** If this fails, check that {@code capabilities()} returns, for each capability that is lacking, a reason that says something. */
    @Rule("SM-CAP-1")
    default void SM_CAP_1_everyCapabilityIsAnsweredAndALackingOneWithAReason() {
        ranks().run(rank -> {
            for (Capability capability : Capability.values()) {
                Support support = rank.memory().capability(capability);
                rank.check(support.supported() || !support.explanation().isBlank(), capability + " is lacking without a reason");
            }
        });
    }

    /** If this fails, check that {@code availability()} catches {@code LinkageError} too, remembers no half-loaded library, and closes what it tried. */
    @Rule("SM-CAP-2")
    default void SM_CAP_2_availabilityIsAnsweredAgainAndAgainWithoutThrowing() {
        ranks().run(rank -> {
            String backend = rank.memory().backend();
            for (int i = 0; i < 3; i++) {
                boolean available = SymmetricMemory.providers()
                        .stream()
                        .anyMatch(provider -> provider.name().equals(backend) && provider.availability() instanceof Availability.Available);
                rank.check(available, "an open backend should be available when asked the " + (i + 1) + ". time");
            }
        });
    }

    /** If this fails, check that capabilities depend on nothing but the group and its devices. */
    @Rule("SM-CAP-3")
    default void SM_CAP_3_allRanksAnswerAlike() {
        ranks().run(rank -> {
            StringBuilder answers = new StringBuilder();
            for (Capability capability : Capability.values()) {
                answers.append(rank.memory().capability(capability).supported() ? '1' : '0');
            }
            List<byte[]> all = rank.memory()
                    .group()
                    .allGather("comparing answers", answers.toString().getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                            RankContext.SOON);
            for (byte[] other : all) {
                rank.checkEqual(answers.toString(), new String(other, java.nio.charset.StandardCharsets.US_ASCII),
                        "the capabilities of another rank");
            }
        });
    }

    /** If this fails, the selection in {@code org.symmem} is broken, not the backend. */
    @Rule("SM-CAP-4")
    default void SM_CAP_4_anUnknownBackendIsAnErrorOnAllRanksThatNamesIt() {
        ranks().run(rank -> {
            var error = rank.checkThrows(SymmetricMemoryException.class,
                    () -> SymmetricMemory.open(rank.freshGroup(), rank.options().withBackend("no-such-backend")), "no-such-backend",
                    rank.memory().backend());
            rank.checkEqual(ErrorCode.BACKEND_UNKNOWN, error.code(), "the code");
        });
    }

    /** If this fails, the selection in {@code org.symmem} is broken, not the backend. */
    @Rule(value = "SM-CAP-5", ranks = 2)
    default void SM_CAP_5_ranksThatAskForDifferentBackendsAllGetAnError() {
        ranks().run(rank -> rank.checkThrows(RanksDisagreeException.class,
                () -> SymmetricMemory.open(rank.freshGroup(), rank.rank() == 0 ? rank.options() : rank.options().withBackend("another")),
                "another", rank.memory().backend()));
    }

    /** If this fails, the comparison of options in {@code org.symmem} is broken, not the backend. */
    @Rule(value = "SM-CAP-6", ranks = 2)
    default void SM_CAP_6_ranksThatWantDifferentChannelsAllGetAnError() {
        ranks().run(rank -> rank.checkThrows(RanksDisagreeException.class,
                () -> SymmetricMemory.open(rank.freshGroup(), rank.options().withChannels(2 + rank.rank() % 2)), "channels"));
    }

    /** If this fails, the selection in {@code org.symmem} is broken, not the backend. */
    @Rule(value = "SM-CAP-7", ranks = 2)
    default void SM_CAP_7_aBackendThatOneRankLacksIsAnErrorOnAllThatNamesTheRankAndTheReason() {
        ranks().run(rank -> {
            String off = "symmem." + rank.memory().backend() + ".disabled";
            int lacking = rank.worldSize() - 1;
            try {
                if (rank.rank() == lacking) {
                    System.setProperty(off, "true");
                }
                var error = rank.checkThrows(SymmetricMemoryException.class,
                        () -> SymmetricMemory.open(rank.freshGroup(), rank.options()), "rank " + lacking, "switched off by " + off);
                rank.checkEqual(ErrorCode.BACKEND_UNAVAILABLE, error.code(), "the code");
            } finally {
                System.clearProperty(off);
            }
        });
    }

    /** The modules of the backends hold it: each has a test without its library and one with it. */
    @Rule(value = "SM-CAP-8", untested = "it takes machines without the driver, without the library, and with a wrong one")
    default void SM_CAP_8_availabilityIsAnAnswerWhereDriverOrLibraryAreMissing() {}
}
