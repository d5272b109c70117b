package org.symmem;

import java.time.Duration;
import java.util.List;
import org.symmem.spi.GroupConnector;

/**
 * The ranks that share memory, and how this one meets the others. Made from a launcher's environment, or over a store that
 * the user supplies, or implemented by a cluster engine: everything that the framework needs of a group is
 * {@link #allGather}.
 *
 * <p>A group is used by one thread at a time: collective calls must be made in the same order by every rank. Ranks may be
 * processes, or threads of one process with a group each. Owned by whoever made it; closing is local.
 */
public interface ProcessGroup extends AutoCloseable {
    /**
     * Joins the group that the launcher's environment describes: {@code RANK}, {@code WORLD_SIZE}, {@code LOCAL_RANK},
     * {@code MASTER_ADDR} and {@code MASTER_PORT} as torchrun sets them, or Open MPI's or Slurm's variables for the ranks. Rank
     * 0 serves the store unless torchrun's agent does. Collective: returns when the store is reached, not when all ranks are.
     *
     * @return the world group; the caller closes it
     * @throws SymmetricMemoryException if a variable is missing or wrong, or the store cannot be reached in time
     */
    static ProcessGroup fromEnvironment() {
        return GroupConnector.installed().fromEnvironment(System.getenv());
    }

    /**
     * Makes a group over a store that the user supplies. Local: nothing is exchanged yet.
     *
     * @param rank      this rank, from 0
     * @param worldSize the number of ranks, the same on all
     * @param store     reached by all ranks; keys of this group begin with {@code name}; not closed with the group
     * @param name      distinguishes groups and jobs that use the same store; the same on all ranks, never used twice
     * @return the group; the caller closes it
     * @throws IllegalArgumentException if the rank is not in {@code [0, worldSize)}
     */
    static ProcessGroup of(int rank, int worldSize, KeyValueStore store, String name) {
        return GroupConnector.installed().over(rank, worldSize, store, name);
    }

    /** {@return the name that all ranks of the group share and no other group of the job has} */
    String name();

    /** {@return this rank in the group, from 0} */
    int rank();

    /** {@return the number of ranks in the group} */
    int worldSize();

    /** {@return this rank among those of its host, from 0; backends choose a device by it} */
    int localRank();

    /** {@return how long a collective step of this group waits for the other ranks unless told otherwise} */
    Duration timeout();

    /**
     * Gives every rank what every rank contributed. Collective.
     *
     * @param step         what is being done, in words, for errors; the same on all ranks
     * @param contribution this rank's bytes
     * @param timeout      how long to wait for the slowest rank
     * @return every rank's bytes, in rank order
     * @throws DeadlineException        if a rank did not come; names the missing ranks
     * @throws SymmetricMemoryException if the meeting place cannot be reached
     * @throws IllegalStateException    if the group is closed
     */
    List<byte[]> allGather(String step, byte[] contribution, Duration timeout);

    /**
     * Makes a group of some of the ranks. Local, though every member must call it with the same ranks, in the same order
     * relative to other groups of these ranks.
     *
     * @param ranks ranks of this group, distinct, this rank among them; their order gives the ranks of the new group
     * @return the new group; the caller closes it
     * @throws IllegalArgumentException if a rank is out of range or named twice, or this rank is not among them
     */
    ProcessGroup subgroup(int... ranks);

    /** {@return whether there are ranks of the job outside the group, which a backend without {@link Capability#SUBGROUPS} cannot leave out} */
    default boolean isPartOfAnother() {
        return false;
    }

    /** Leaves the group. Local; closing twice is fine. */
    @Override
    void close();
}
