package org.symmem.spi;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.symmem.CollectiveFailedException;
import org.symmem.ErrorCode;
import org.symmem.ProcessGroup;
import org.symmem.RankFailure;
import org.symmem.SymmetricMemoryException;

/**
 * Makes the steps of one collective operation end alike on all ranks. In each step every rank does its local part, tells the
 * others whether it went well, and all take the same branch: either every rank gets every rank's result, or every rank gets
 * the same {@link CollectiveFailedException}.
 *
 * <p>A step costs one {@link ProcessGroup#allGather}. Used by one thread.
 */
public final class Agreement {
    /** A message begins with this, so that anything else in its place is noticed. */
    private static final int MAGIC = 0x53_4d_41_31;
    /** Of each field of a failure, so that a message stays small enough for any way between ranks. */
    private static final int MOST_CHARACTERS = 6_000;

    private final ProcessGroup group;
    private final String operation;
    private final String subject;
    private final Supplier<String> device;
    private final Duration timeout;
    private final long start = System.nanoTime();

    /**
     * @param group     the ranks
     * @param operation what is being done, in words that are the same on all ranks, for instance {@code rendezvous of allocation 3}
     * @param subject   what it is done to, in this rank's words, for errors, for instance {@code SymmetricTensor[…]}
     * @param device    this rank's device in words, asked only when its part fails
     * @param timeout   how long this rank waits for the others, from now on and over all steps together
     */
    public Agreement(ProcessGroup group, String operation, String subject, Supplier<String> device, Duration timeout) {
        this.group = group;
        this.operation = operation;
        this.subject = subject;
        this.device = device;
        this.timeout = timeout;
    }

    /** What a rank does by itself in a step. */
    @FunctionalInterface
    public interface LocalPart {
        /**
         * @return what the other ranks get from this one
         * @throws Exception if it cannot be done; all ranks then fail
         */
        byte[] run() throws Exception;
    }

    /** {@return the ranks} */
    public ProcessGroup group() {
        return group;
    }

    /** {@return what is being done and to what, in this rank's words} For errors: ranks name what it is done to differently. */
    public String operation() {
        return operation + ", " + subject;
    }

    /** {@return what it is done to, in this rank's words} */
    public String subject() {
        return subject;
    }

    /** {@return how long this rank still waits for the others; zero when the time has passed} */
    public Duration timeout() {
        Duration left = timeout.minusNanos(System.nanoTime() - start);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /**
     * Does the local part and agrees on its outcome. Collective.
     *
     * @param step what is done, as a phrase, for instance {@code exporting the handle}; the same on all ranks
     * @param part this rank's part; whatever it began it cleans up itself when it throws
     * @return what every rank's part returned, in rank order
     * @throws CollectiveFailedException         if the part failed on any rank
     * @throws org.symmem.DeadlineException if a rank did not come in time
     */
    public List<byte[]> step(String step, LocalPart part) {
        byte[] message;
        Throwable own = null;
        try {
            byte[] result = part.run();
            message = Wire.write(out -> {
                out.writeInt(MAGIC);
                out.writeBoolean(true);
                out.writeInt(result.length);
                out.write(result);
            });
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            own = e;
            message = failureMessage(step, e);
        }
        List<byte[]> answers;
        try {
            answers = group.allGather(operation + ", " + step, message, timeout());
        } catch (RuntimeException e) {
            if (own != null) {
                e.addSuppressed(own);
            }
            throw e;
        }
        return outcome(answers, own);
    }

    /**
     * Agrees that a step without a result went well. Collective.
     *
     * @param step what is done, as a phrase
     * @param part this rank's part
     * @throws CollectiveFailedException if the part failed on any rank
     */
    public void check(String step, Runnable part) {
        step(step, () -> {
            part.run();
            return new byte[0];
        });
    }

    /**
     * Makes sure that properties are equal on all ranks. Collective.
     *
     * @param step       what is compared, as a phrase
     * @param properties this rank's values by name, the same names in the same order on all ranks
     * @throws org.symmem.RanksDisagreeException on all ranks, naming each property that differs and who has which value
     */
    public void compare(String step, SequencedMap<String, String> properties) {
        Comparison.of(this, step, properties);
    }

    private byte[] failureMessage(String step, Throwable error) {
        String code = error instanceof SymmetricMemoryException e ? e.code().id() : error.getClass().getName();
        String text = error instanceof SymmetricMemoryException ? String.valueOf(error.getMessage()) : error.toString();
        return Wire.write(out -> {
            out.writeInt(MAGIC);
            out.writeBoolean(false);
            for (String field : List.of(HostIdentity.local().name(), device.get(), step, code, text)) {
                out.writeUTF(field.length() > MOST_CHARACTERS ? field.substring(0, MOST_CHARACTERS) : field);
            }
        });
    }

    private List<byte[]> outcome(List<byte[]> answers, @Nullable Throwable own) {
        List<byte[]> results = new ArrayList<>(answers.size());
        List<RankFailure> failures = new ArrayList<>();
        for (int rank = 0; rank < answers.size(); rank++) {
            int from = rank;
            Wire.read(answers.get(rank), in -> {
                if (in.readInt() != MAGIC) {
                    throw new IOException("no agreement message");
                }
                if (in.readBoolean()) {
                    results.add(in.readNBytes(in.readInt()));
                } else {
                    failures.add(new RankFailure(from, in.readUTF(), in.readUTF(), in.readUTF(), in.readUTF(), in.readUTF()));
                }
                return results;
            });
        }
        if (!failures.isEmpty()) {
            throw new CollectiveFailedException(
                    ErrorCode.RANK_FAILED, operation(), failures, own);
        }
        return results;
    }
}
