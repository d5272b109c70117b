package org.symmem.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Optional;

/** What a rank of the main job tells its parent: a line of JSON behind a prefix on its standard output, among whatever else is printed there. */
sealed interface RankMessage {
    String PREFIX = "\u0001symmem ";
    ObjectMapper JSON = new ObjectMapper();

    /** Bytes that the rank has loaded, read or written since it last said so. */
    record Progress(long bytes) implements RankMessage {}

    /**
     * What the rank found in the end.
     *
     * @param loadedBytes       its shard
     * @param loadSeconds       what loading took
     * @param viewSha256        the file's digest through the contiguous view; empty where the backend has none
     * @param viewGigabytes     a second, copied through the view
     * @param peersSha256       the file's digest through the peers' buffers
     * @param peersGigabytes    a second, copied from the peers
     * @param residentKibibytes the most memory that the process had resident
     */
    record Result(int rank, long pid, String host, String device, String backend, long loadedBytes, double loadSeconds, String viewSha256, double viewGigabytes, String peersSha256, double peersGigabytes, double seconds, long residentKibibytes)
            implements RankMessage {}

    /** The rank has failed; why. */
    record Failure(int rank, String message) implements RankMessage {}

    /** Prints the message for the parent. */
    default void print() {
        try {
            synchronized (System.out) {
                System.out.println(PREFIX + getClass().getSimpleName() + " " + JSON.writeValueAsString(this));
                System.out.flush();
            }
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** {@return the message in a line, if there is one} */
    static Optional<RankMessage> in(String line) {
        if (!line.startsWith(PREFIX)) {
            return Optional.empty();
        }
        String[] parts = line.substring(PREFIX.length()).split(" ", 2);
        try {
            return switch (parts[0]) {
                case "Progress" -> Optional.of(JSON.readValue(parts[1], Progress.class));
                case "Result" -> Optional.of(JSON.readValue(parts[1], Result.class));
                case "Failure" -> Optional.of(JSON.readValue(parts[1], Failure.class));
                default -> Optional.empty();
            };
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }
}
