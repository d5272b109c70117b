package org.symmem.rendezvous;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes requests of a connection's bytes, in whatever pieces they arrive. Each byte is looked at once, and memory is taken only for
 * bytes that have arrived: a length is a claim, checked against the limits and then not believed. Used by one thread.
 */
final class StoreRequestReader {
    /** What a request is made of. */
    private enum Part {
        U32, I64, COUNT, KEY, VALUE
    }

    private static final byte[] NOTHING = new byte[0];

    private final StoreLimits limits;
    private boolean begun;
    private byte opcode;
    private Part[] parts = {};
    /** How many parts are still to come, and how many have. */
    private long left;
    private int taken;
    private List<String> keys = List.of();
    private List<byte[]> values = List.of();
    private long number;
    /** The announced length of the string that is being read; -1 while it is not known. */
    private int length = -1;
    /** What has arrived of the number or string that is being read. */
    private byte[] piece = NOTHING;
    private int arrived;
    private long heldBytes;

    StoreRequestReader(StoreLimits limits) {
        this.limits = limits;
    }

    /** {@return the bytes held of a request that is not complete} */
    long heldBytes() {
        return heldBytes + arrived;
    }

    /**
     * Goes on with the request that is being read.
     *
     * @param in what has arrived; consumed to its end, or to the end of the request
     * @return the request, or null if more bytes must come first
     * @throws StoreRequest.Violation if whatever may still come, this can be no request; the reader is of no use then
     */
    @Nullable
    StoreRequest next(ByteBuffer in) throws StoreRequest.Violation {
        if (!begun) {
            if (!in.hasRemaining()) {
                return null;
            }
            begin(in.get());
        }
        while (left > 0) {
            if (!read(parts[taken % parts.length], in)) {
                return null;
            }
        }
        StoreRequest request = new StoreRequest(opcode, keys, values, number);
        begun = false;
        keys = List.of();
        values = List.of();
        heldBytes = 0;
        return request;
    }

    private void begin(byte code) throws StoreRequest.Violation {
        opcode = code;
        parts = partsOf(code);
        left = parts.length;
        taken = 0;
        number = 0;
        keys = new ArrayList<>(1);
        values = new ArrayList<>(1);
        begun = true;
    }

    private static Part[] partsOf(byte opcode) throws StoreRequest.Violation {
        return switch (opcode) {
            case StoreProtocol.VALIDATE, StoreProtocol.PING -> new Part[]{Part.U32};
            case StoreProtocol.SET, StoreProtocol.APPEND -> new Part[]{Part.KEY, Part.VALUE};
            case StoreProtocol.COMPARE_SET -> new Part[]{Part.KEY, Part.VALUE, Part.VALUE};
            case StoreProtocol.GET, StoreProtocol.DELETE_KEY -> new Part[]{Part.KEY};
            case StoreProtocol.ADD -> new Part[]{Part.KEY, Part.I64};
            case StoreProtocol.CHECK, StoreProtocol.WAIT, StoreProtocol.MULTI_GET, StoreProtocol.MULTI_SET -> new Part[]{Part.COUNT};
            case StoreProtocol.AUTHENTICATE -> new Part[]{Part.VALUE};
            case StoreProtocol.GETNUMKEYS, StoreProtocol.CANCEL_WAIT -> new Part[0];
            default -> throw new StoreRequest.Violation("opcode " + Byte.toUnsignedInt(opcode) + " is unknown");
        };
    }

    /** {@return whether the whole part was there} */
    private boolean read(Part part, ByteBuffer in) throws StoreRequest.Violation {
        switch (part) {
            case U32 -> {
                if (!collect(in, Integer.BYTES)) {
                    return false;
                }
                number = littleEndian().getInt();
            }
            case I64 -> {
                if (!collect(in, Long.BYTES)) {
                    return false;
                }
                number = littleEndian().getLong();
            }
            case COUNT -> {
                if (!collect(in, Long.BYTES)) {
                    return false;
                }
                repeat(bounded(littleEndian().getLong(), limits.keysARequest(), "keys in one request"));
                return true;
            }
            case KEY -> {
                if (!collectString(in, limits.keyBytes(), "bytes of a key")) {
                    return false;
                }
                keys.add(new String(finished(), StandardCharsets.ISO_8859_1));
            }
            case VALUE -> {
                if (!collectString(in, limits.valueBytes(), "bytes of a value")) {
                    return false;
                }
                values.add(finished());
            }
        }
        taken++;
        left--;
        return true;
    }

    /** The count of a request is followed by that many keys, or pairs of key and value. */
    private void repeat(int times) {
        finished();
        parts = opcode == StoreProtocol.MULTI_SET ? new Part[]{Part.KEY, Part.VALUE} : new Part[]{Part.KEY};
        left = (long) times * parts.length;
        taken = 0;
    }

    private boolean collectString(ByteBuffer in, int limit, String what) throws StoreRequest.Violation {
        if (length < 0) {
            if (!collect(in, Long.BYTES)) {
                return false;
            }
            int announced = bounded(littleEndian().getLong(), limit, what);
            if (heldBytes + announced > limits.requestBytes()) {
                throw new StoreRequest.Violation("a request of more than " + limits.requestBytes() + " bytes");
            }
            length = announced;
        }
        if (!collect(in, length)) {
            return false;
        }
        heldBytes += length;
        length = -1;
        return true;
    }

    /** {@return whether that many bytes of the present number or string are there; takes what has arrived of them} */
    private boolean collect(ByteBuffer in, int wanted) {
        int more = Math.min(in.remaining(), wanted - arrived);
        if (arrived + more > piece.length) {
            piece = Arrays.copyOf(piece, Math.min(wanted, Math.max(arrived + more, 2 * piece.length)));
        }
        in.get(piece, arrived, more);
        arrived += more;
        return arrived == wanted;
    }

    private ByteBuffer littleEndian() {
        return ByteBuffer.wrap(finished()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** {@return the bytes of the number or string that is complete} */
    private byte[] finished() {
        byte[] bytes = piece;
        piece = NOTHING;
        arrived = 0;
        return bytes;
    }

    private static int bounded(long number, int limit, String what) throws StoreRequest.Violation {
        if (number < 0 || number > limit) {
            throw new StoreRequest.Violation(Long.toUnsignedString(number) + " " + what + "; at most " + limit + " are allowed");
        }
        return (int) number;
    }
}
