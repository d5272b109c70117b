package org.symmem.spi;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Small messages between ranks as bytes, written and read in the same order on both sides. */
public final class Wire {
    private Wire() {}

    /** Writes the fields of a message. */
    @FunctionalInterface
    public interface Writer {
        /**
         * @param out takes the fields
         * @throws IOException never from the stream itself
         */
        void write(DataOutputStream out) throws IOException;
    }

    /**
     * Reads the fields of a message.
     *
     * @param <T> what they make
     */
    @FunctionalInterface
    public interface Reader<T> {
        /**
         * @param in gives the fields
         * @return what they make
         * @throws IOException if the message is too short or malformed
         */
        T read(DataInputStream in) throws IOException;
    }

    /** {@return the bytes of a message} */
    public static byte[] write(Writer writer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            writer.write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * @param <T>     what the message makes
     * @param message the bytes
     * @param reader  reads the fields
     * @return what it read
     * @throws IllegalArgumentException if the message is too short or malformed
     */
    public static <T> T read(byte[] message, Reader<T> reader) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(message))) {
            return reader.read(in);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "a message of " + message.length + " bytes from another rank cannot be read; do all ranks run the same version?", e);
        }
    }
}
