package org.symmem.tck;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * What the kit and a rank say to each other: a kind and some bytes.
 *
 * @param kind what it is
 * @param body its bytes
 */
record KitMessage(byte kind, byte[] body) {
    /** Rank to kit, first: the token and the rank. */
    static final byte HELLO = 1;
    /** Rank to kit: the backend is open; its description. */
    static final byte READY = 2;
    /** Rank to kit: the backend is unavailable here; why. */
    static final byte UNAVAILABLE = 3;
    /** Kit to rank: run a rule. */
    static final byte RUN = 4;
    /** Rank to kit: how it went. */
    static final byte RESULT = 5;
    /** Kit to rank: say what all threads do. */
    static final byte DUMP = 6;
    /** Rank to kit: what they do. */
    static final byte DUMPED = 7;
    /** Rank to kit: the backend is available and yet could not be opened; how it failed. */
    static final byte NOT_OPENED = 8;

    private static final int MOST_BYTES = 64 << 20;

    void write(DataOutputStream out) throws IOException {
        out.writeByte(kind);
        out.writeInt(body.length);
        out.write(body);
        out.flush();
    }

    static KitMessage read(DataInputStream in) throws IOException {
        byte kind = in.readByte();
        int length = in.readInt();
        if (length < 0 || length > MOST_BYTES) {
            throw new IOException("a message of " + length + " bytes");
        }
        byte[] body = new byte[length];
        in.readFully(body);
        return new KitMessage(kind, body);
    }
}
