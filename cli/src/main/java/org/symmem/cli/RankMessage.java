package org.symmem.cli;

import java.io.IOException;
import java.util.Base64;
import java.util.Optional;
import org.symmem.spi.Wire;

/** What a rank of the main job tells its parent: a line behind a prefix on its standard output, among whatever else is printed there. */
sealed interface RankMessage {
    String PREFIX = "\u0001symmem ";
    byte PROGRESS = 1;
    byte RESULT = 2;
    byte FAILURE = 3;

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

    /** {@return the message as bytes: its kind and its fields} */
    private byte[] toBytes() {
        return Wire.write(out -> {
            switch (this) {
                case Progress progress -> {
                    out.writeByte(PROGRESS);
                    out.writeLong(progress.bytes());
                }
                case Failure failure -> {
                    out.writeByte(FAILURE);
                    out.writeInt(failure.rank());
                    out.writeUTF(failure.message());
                }
                case Result r -> {
                    out.writeByte(RESULT);
                    out.writeInt(r.rank());
                    out.writeLong(r.pid());
                    out.writeUTF(r.host());
                    out.writeUTF(r.device());
                    out.writeUTF(r.backend());
                    out.writeLong(r.loadedBytes());
                    out.writeDouble(r.loadSeconds());
                    out.writeUTF(r.viewSha256());
                    out.writeDouble(r.viewGigabytes());
                    out.writeUTF(r.peersSha256());
                    out.writeDouble(r.peersGigabytes());
                    out.writeDouble(r.seconds());
                    out.writeLong(r.residentKibibytes());
                }
            }
        });
    }

    /** Prints the message for the parent. */
    default void print() {
        synchronized (System.out) {
            System.out.println(PREFIX + Base64.getEncoder().encodeToString(toBytes()));
            System.out.flush();
        }
    }

    /** {@return the message in a line, if there is one} */
    static Optional<RankMessage> in(String line) {
        if (!line.startsWith(PREFIX)) {
            return Optional.empty();
        }
        try {
            return Optional.of(Wire.read(Base64.getDecoder().decode(line.substring(PREFIX.length())), in -> switch (in.readByte()) {
                case PROGRESS -> new Progress(in.readLong());
                case FAILURE -> new Failure(in.readInt(), in.readUTF());
                case RESULT -> new Result(in.readInt(), in.readLong(), in.readUTF(), in.readUTF(), in.readUTF(), in.readLong(), in.readDouble(), in.readUTF(), in.readDouble(), in.readUTF(), in.readDouble(), in.readDouble(), in.readLong());
                default -> throw new IOException("a message of another kind");
            }));
        } catch (IllegalArgumentException e) {
            // Something else that happens to begin so.
            return Optional.empty();
        }
    }
}
