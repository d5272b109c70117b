package org.symmem.rendezvous;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.symmem.RanksDisagreeException;
import org.symmem.spi.Wire;

/**
 * What a rank gives to an all-gather: its bytes, with what it believes about the group, so that ranks which have gone different
 * ways get an error instead of each other's bytes.
 *
 * @param step      what the rank is doing
 * @param worldSize how many ranks it counts
 * @param bytes     its bytes
 */
record Contribution(String step, int worldSize, byte[] bytes) {
    byte[] toBytes() {
        return Wire.write(out -> {
            out.writeUTF(step);
            out.writeInt(worldSize);
            out.write(bytes);
        });
    }

    static Contribution from(byte[] message) {
        return Wire.read(message, in -> new Contribution(in.readUTF(), in.readInt(), in.readAllBytes()));
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

    /** {@return the bytes of all ranks; throws on every rank alike if they are at different steps} */
    static List<byte[]> ofOneStep(String group, List<Contribution> all) {
        if (all.stream().map(Contribution::step).distinct().count() > 1) {
            String steps = IntStream.range(0, all.size())
                    .mapToObj(rank -> "rank " + rank + ": " + all.get(rank).step())
                    .collect(Collectors.joining("; "));
            throw new RanksDisagreeException("ranks of group " + group + " are at different steps: " + steps
                    + ". Every rank must make the same collective calls in the same order");
        }
        return all.stream().map(Contribution::bytes).toList();
    }
}
