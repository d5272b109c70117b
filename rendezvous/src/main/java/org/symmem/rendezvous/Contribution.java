package org.symmem.rendezvous;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.RanksDisagreeException;
import org.symmem.spi.Wire;

/**
 * What a rank gives to an all-gather: its bytes, with what it believes about the group, so that ranks which have gone different
 * ways get an error instead of each other's bytes.
 *
 * @param step      what the rank is doing
 * @param worldSize how many ranks it counts
 * @param missed    the ranks that it has given up waiting for; empty while it has not
 * @param bytes     its bytes
 */
record Contribution(String step, int worldSize, List<Integer> missed, byte[] bytes) {
    /** A string that is written as modified UTF-8 has at most 65,535 bytes, at most three for a char. */
    private static final int STEP_CHARS = 20_000;

    /** What a rank gives that has not given up. */
    Contribution(String step, int worldSize, byte[] bytes) {
        this(step.length() > STEP_CHARS ? step.substring(0, STEP_CHARS) : step, worldSize, List.of(), bytes);
    }

    /** {@return what stands in its place when its rank has given up: a rank that comes late must not go on alone} */
    Contribution withdrawn(List<Integer> missing) {
        return new Contribution(step, worldSize, missing, new byte[0]);
    }

    byte[] toBytes() {
        return Wire.write(out -> {
            out.writeUTF(step);
            out.writeInt(worldSize);
            out.writeInt(missed.size());
            for (int rank : missed) {
                out.writeInt(rank);
            }
            out.write(bytes);
        });
    }

    static Contribution from(byte[] message) {
        return Wire.read(message, in -> {
            String step = in.readUTF();
            int worldSize = in.readInt();
            List<Integer> missed = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                missed.add(in.readInt());
            }
            // All that is left is known here; readAllBytes would take kilobytes for each of many short messages.
            byte[] bytes = new byte[in.available()];
            in.readFully(bytes);
            return new Contribution(step, worldSize, missed, bytes);
        });
    }

    /** Throws on every rank alike if not all count the same ranks. */
    static void compareWorldSizes(String group, int rank, int worldSize, Iterable<Contribution> contributions) {
        for (Contribution contribution : contributions) {
            if (contribution.worldSize() != worldSize) {
                throw new RanksDisagreeException("ranks of group " + group + " disagree on the world size: rank " + rank + " was told "
                        + worldSize + ", another " + contribution.worldSize()
                        + ". Start every rank with the same WORLD_SIZE");
            }
        }
    }

    /** {@return the bytes of all ranks; throws on every rank alike if they are at different steps, or if one has given up} */
    static List<byte[]> ofOneStep(String group, List<Contribution> all) {
        if (all.stream().map(Contribution::step).distinct().count() > 1) {
            String steps = IntStream.range(0, all.size())
                    .mapToObj(rank -> "rank " + rank + ": " + all.get(rank).step())
                    .collect(Collectors.joining("; "));
            throw new RanksDisagreeException("ranks of group " + group + " are at different steps: " + steps
                    + ". Every rank must make the same collective calls in the same order");
        }
        List<Integer> gaveUp = IntStream.range(0, all.size()).filter(rank -> !all.get(rank).missed().isEmpty()).boxed().toList();
        if (!gaveUp.isEmpty()) {
            List<Integer> missed = List
                    .copyOf(all.stream().flatMap(one -> one.missed().stream()).collect(Collectors.toCollection(TreeSet::new)));
            throw new DeadlineException(ErrorCode.RANK_MISSING, all.getFirst().step() + ": ranks " + gaveUp + " of group " + group
                    + " have given up waiting for ranks " + missed
                    + ", which came too late. Find what held them up, or allow more time (symmem.timeout, in seconds)", missed);
        }
        return all.stream().map(Contribution::bytes).toList();
    }
}
