package org.symmem.rendezvous;

import java.util.List;

/**
 * One request to the store. Keys are bytes in a string of Latin-1 characters, one each.
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

    /** {@return a key for a log: it comes from a client, which must not write the log's lines} */
    static String printable(String key) {
        String start = key.length() > 100 ? key.substring(0, 100) + "..." : key;
        return start.replaceAll("[^ -~]", "?");
    }
}
