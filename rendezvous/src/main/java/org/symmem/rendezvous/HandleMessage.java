package org.symmem.rendezvous;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes that ranks of one host exchange over unix sockets. Little-endian. Every message begins alike:
 *
 * <pre>
 *   0               4               8              12              16
 *   +---------------+---------------+---------------+---------------+
 *   | magic "SMFD"  | layout version|     kind      |  sender rank  |
 *   +---------------+---------------+---------------+---------------+
 *   hello (1)   | secret, 32 bytes                                  |
 *   handles (2) | sequence u64  | note …                            |   with the descriptors as ancillary data
 *   failed (3)  | sequence u64  |                                       the sender could not give its handles
 *   gather (4)  | sequence u64  | contribution …                    |   to an all-gather
 * </pre>
 *
 * @param kind     what it is
 * @param sender   the rank that sent it
 * @param sequence the number of the exchange or all-gather in the group, from 0; 0 in a hello
 * @param body     the secret or the note
 */
record HandleMessage(int kind, int sender, long sequence, byte[] body) {
    /** {@code SMFD} in memory. */
    static final int MAGIC = 0x44_46_4d_53;
    /** Ranks with different versions do not talk. */
    static final int VERSION = 1;

    static final int HELLO = 1;
    static final int HANDLES = 2;
    static final int FAILED = 3;
    static final int GATHER = 4;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int KIND_OFFSET = VERSION_OFFSET + Integer.BYTES;
    static final int SENDER_OFFSET = KIND_OFFSET + Integer.BYTES;
    static final int SEQUENCE_OFFSET = SENDER_OFFSET + Integer.BYTES;
    static final int BODY_OFFSET = SEQUENCE_OFFSET + Long.BYTES;

    static final int SECRET_BYTES = 32;
    /** The longest message, in bytes: failures of a step with their texts; below what a unix socket takes at once. */
    static final int MOST_BYTES = 128 * 1024;
    /** The most descriptors of one message. */
    static final int MOST_DESCRIPTORS = 16;

    byte[] toBytes() {
        return ByteBuffer.allocate(BODY_OFFSET + body.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(MAGIC)
                .putInt(VERSION)
                .putInt(kind)
                .putInt(sender)
                .putLong(sequence)
                .put(body)
                .array();
    }

    /**
     * @return the message
     * @throws IllegalArgumentException if the bytes are none
     */
    static HandleMessage from(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < BODY_OFFSET || in.getInt(MAGIC_OFFSET) != MAGIC || in.getInt(VERSION_OFFSET) != VERSION) {
            throw new IllegalArgumentException(bytes.length + " bytes that are no message of this protocol");
        }
        byte[] body = new byte[bytes.length - BODY_OFFSET];
        in.get(BODY_OFFSET, body);
        return new HandleMessage(in.getInt(KIND_OFFSET), in.getInt(SENDER_OFFSET), in.getLong(SEQUENCE_OFFSET), body);
    }
}
