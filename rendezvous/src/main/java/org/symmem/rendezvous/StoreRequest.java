package org.symmem.rendezvous;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request to the store, as parsed from a connection's bytes. Keys are bytes in a string of Latin-1 characters, one each.
 *
 * @param opcode what is asked
 * @param keys   its keys, in order
 * @param values its values, in order
 * @param number its number: magic, delta or nonce
 */
record StoreRequest(byte opcode, List<String> keys, List<byte[]> values, long number) {
    /** A request that breaks the protocol or a limit. */
    static final class Violation extends Exception {
        Violation(String message) {
            super(message);
        }
    }

    /**
     * Parses one request.
     *
     * @param in what has arrived; its position moves behind the request if it is all there, else stays
     * @return the request, or null if more bytes must come first
     * @throws Violation if whatever may still come, this can be no request
     */
    static @Nullable StoreRequest parse(ByteBuffer in, StoreLimits limits) throws Violation {
        int start = in.position();
        try {
            return parseWhole(in, limits);
        } catch (BufferUnderflowException e) {
            in.position(start);
            return null;
        }
    }

    private static StoreRequest parseWhole(ByteBuffer in, StoreLimits limits) throws Violation {
        byte opcode = in.get();
        List<String> keys = new ArrayList<>(1);
        List<byte[]> values = new ArrayList<>(1);
        long number = 0;
        switch (opcode) {
            case StoreProtocol.VALIDATE, StoreProtocol.PING -> number = in.getInt();
            case StoreProtocol.SET, StoreProtocol.APPEND -> {
                keys.add(key(in, limits));
                values.add(value(in, limits));
            }
            case StoreProtocol.COMPARE_SET -> {
                keys.add(key(in, limits));
                values.add(value(in, limits));
                values.add(value(in, limits));
            }
            case StoreProtocol.GET, StoreProtocol.DELETE_KEY -> keys.add(key(in, limits));
            case StoreProtocol.ADD -> {
                keys.add(key(in, limits));
                number = in.getLong();
            }
            case StoreProtocol.CHECK, StoreProtocol.WAIT, StoreProtocol.MULTI_GET -> {
                for (long n = count(in, limits); n > 0; n--) {
                    keys.add(key(in, limits));
                }
            }
            case StoreProtocol.MULTI_SET -> {
                for (long n = count(in, limits); n > 0; n--) {
                    keys.add(key(in, limits));
                    values.add(value(in, limits));
                }
            }
            case StoreProtocol.GETNUMKEYS, StoreProtocol.CANCEL_WAIT -> {
            }
            default -> throw new Violation("opcode " + opcode + " is unknown");
        }
        return new StoreRequest(opcode, keys, values, number);
    }

    private static long count(ByteBuffer in, StoreLimits limits) throws Violation {
        return bounded(in.getLong(), limits.keysARequest(), "keys in one request");
    }

    private static String key(ByteBuffer in, StoreLimits limits) throws Violation {
        return new String(bytes(in, bounded(in.getLong(), limits.keyBytes(), "bytes of a key")), StandardCharsets.ISO_8859_1);
    }

    private static byte[] value(ByteBuffer in, StoreLimits limits) throws Violation {
        return bytes(in, bounded(in.getLong(), limits.valueBytes(), "bytes of a value"));
    }

    private static byte[] bytes(ByteBuffer in, int length) {
        if (in.remaining() < length) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private static int bounded(long number, int limit, String what) throws Violation {
        if (number < 0 || number > limit) {
            throw new Violation(Long.toUnsignedString(number) + " " + what + "; at most " + limit + " are allowed");
        }
        return (int) number;
    }
}
