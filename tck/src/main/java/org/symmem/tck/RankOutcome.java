package org.symmem.tck;

import org.symmem.spi.Wire;

/**
 * How a rule went on one rank.
 *
 * @param passed  whether it was kept
 * @param message what was broken
 * @param trace   where
 */
record RankOutcome(boolean passed, String message, String trace) {
    byte[] toBytes() {
        return Wire.write(out -> {
            out.writeBoolean(passed);
            writeLong(out, message);
            writeLong(out, trace);
        });
    }

    static RankOutcome from(byte[] bytes) {
        return Wire.read(bytes, in -> new RankOutcome(in.readBoolean(), readLong(in), readLong(in)));
    }

    private static void writeLong(java.io.DataOutputStream out, String text) throws java.io.IOException {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String readLong(java.io.DataInputStream in) throws java.io.IOException {
        return new String(in.readNBytes(in.readInt()), java.nio.charset.StandardCharsets.UTF_8);
    }
}
