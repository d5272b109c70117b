package org.symmem.rendezvous;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/**
 * What a launcher says about a rank in environment variables: torchrun's and plain ones ({@code RANK}, {@code WORLD_SIZE},
 * {@code LOCAL_RANK}), else Open MPI's, else Slurm's; {@code MASTER_ADDR} and {@code MASTER_PORT} in every case.
 *
 * @param rank       from 0
 * @param worldSize  the number of ranks
 * @param localRank  among the ranks of the host; the rank itself where the launcher does not say
 * @param store      where the store is; empty only for a world of 1
 * @param agentStore whether the launcher serves the store, so that rank 0 must not
 * @param keyPrefix  distinguishes this run, and this restart of it, from others on one store
 */
record LaunchEnvironment(int rank, int worldSize, int localRank, Optional<Address> store, boolean agentStore, String keyPrefix) {
    /** Where the store is. */
    record Address(String host, int port) {}

    /** Far above any number of ranks; what is above it is a mistake. */
    private static final int GREATEST_WORLD = 1 << 20;

    /**
     * The names by which one kind of launcher says the same things.
     *
     * @param job what tells its jobs apart: the values of those that are set, together
     */
    private record Names(String launcher, String rank, String worldSize, String localRank, List<String> job) {}

    private static final Names PLAIN = new Names("torchrun or the user", "RANK", "WORLD_SIZE", "LOCAL_RANK",
            List.of("TORCHELASTIC_RUN_ID"));
    private static final List<Names> LAUNCHERS = List.of(PLAIN,
            new Names("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                    List.of("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")),
            // Steps of one allocation are jobs of their own.
            new Names("srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", List.of("SLURM_JOB_ID", "SLURM_STEP_ID")));

    static LaunchEnvironment of(Map<String, String> variables) {
        Names names = namesOf(variables);
        int worldSize = number(variables, names.worldSize(), names.launcher(), 1, GREATEST_WORLD, "");
        String why = " (below " + names.worldSize() + "=" + worldSize + ")";
        int rank = number(variables, names.rank(), names.launcher(), 0, worldSize - 1, why);
        String plain = variables.get(PLAIN.worldSize());
        if (names != PLAIN && plain != null && !parse(plain).equals(OptionalInt.of(worldSize))) {
            throw wrong(PLAIN.worldSize() + "=" + plain + " and " + names.worldSize() + "=" + worldSize + " disagree: " + names.launcher()
                    + " sets the second and the first is yours; take it away, or set RANK too");
        }
        int localRank = variables.containsKey(names.localRank())
                ? number(variables, names.localRank(), names.launcher(), 0, worldSize - 1, why)
                : rank;
        String run = names.job().stream().filter(variables::containsKey).map(variables::get).collect(Collectors.joining("."));
        String restart = variables.getOrDefault("TORCHELASTIC_RESTART_COUNT", "0");
        boolean agentStore = variables.getOrDefault("TORCHELASTIC_USE_AGENT_STORE", "").equalsIgnoreCase("true");
        return new LaunchEnvironment(rank, worldSize, localRank, address(variables, worldSize), agentStore,
                "symmem/" + (run.isEmpty() ? "job" : run) + "/" + restart);
    }

    private static Names namesOf(Map<String, String> variables) {
        return LAUNCHERS.stream()
                .filter(launcher -> variables.containsKey(launcher.rank()))
                .findFirst()
                .orElseThrow(() -> wrong(
                        "RANK is not set, nor is OMPI_COMM_WORLD_RANK or SLURM_PROCID: no launcher has said which rank this process is. Start it with symmem launch, torchrun, mpirun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, for instance RANK=0 WORLD_SIZE=1"));
    }

    private static Optional<Address> address(Map<String, String> variables, int worldSize) {
        if (worldSize == 1) {
            return Optional.empty();
        }
        String host = variables.get("MASTER_ADDR");
        if (host == null || host.isBlank()) {
            throw wrong(
                    "MASTER_ADDR is not set: it is the host on which rank 0 serves the store, for instance MASTER_ADDR=127.0.0.1; torchrun sets it, under mpirun and srun it is yours to set");
        }
        return Optional.of(new Address(host.strip(), number(variables, "MASTER_PORT", "torchrun or the user", 1, 65_535, "")));
    }

    private static int number(Map<String, String> variables, String name, String launcher, int least, int greatest, String why) {
        String value = variables.get(name);
        OptionalInt number = value == null ? OptionalInt.empty() : parse(value);
        if (number.isEmpty() || number.getAsInt() < least || number.getAsInt() > greatest) {
            throw wrong((value == null ? name + " is not set" : name + "=" + value + " is wrong") + ": " + launcher
                    + " sets it to a whole number from " + least + " to " + greatest + why + ", for instance " + name + "="
                    + (name.equals("MASTER_PORT") ? 29_500 : least));
        }
        return number.getAsInt();
    }

    private static OptionalInt parse(String value) {
        try {
            return OptionalInt.of(Integer.parseInt(value.strip()));
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    private static SymmetricMemoryException wrong(String message) {
        return new SymmetricMemoryException(ErrorCode.SETTING, message);
    }
}
