package org.symmem.tck;

import org.symmem.spi.Wire;

/**
 * How a rule went on one rank.
 *
 * @param verdict whether it was kept
 * @param message what was broken
 * @param trace   where
 */
record RankOutcome(Verdict verdict, String message, String trace) {
    enum Verdict {
        PASSED, FAILED,
        /** Kept, but the rank holds more than before. A pool that grew once does so too, a leak does it every time. */
        LEFT_SOMETHING
    }

    static final RankOutcome PASSED = new RankOutcome(Verdict.PASSED, "", "");

    static RankOutcome failed(String message, String trace) {
        return new RankOutcome(Verdict.FAILED, message, trace);
    }

    boolean passed() {
        return verdict == Verdict.PASSED;
    }

    byte[] toBytes() {
        return Wire.write(out -> {
            out.writeByte(verdict.ordinal());
            writeLong(out, message);
            writeLong(out, trace);
        });
    }

    static RankOutcome from(byte[] bytes) {
        return Wire.read(bytes, in -> new RankOutcome(Verdict.values()[in.readByte()], readLong(in), readLong(in)));
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
