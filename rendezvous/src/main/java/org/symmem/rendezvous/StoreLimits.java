package org.symmem.rendezvous;

import java.time.Duration;

/**
 * What a store takes from its clients; more closes the client's connection. All are checked before memory is taken.
 *
 * @param keyBytes     the longest key, in bytes
 * @param valueBytes   the longest value, in bytes
 * @param keysARequest the most keys of one request
 * @param requestBytes the longest request, in bytes
 * @param keys         the most keys stored
 * @param totalBytes   the most bytes of keys and values stored; also of all requests that have come in part, and of one answer
 * @param connections  the most connections at once; more are closed when they come
 * @param greeting     how long a client may take to greet while connections are short: then one that has been silent for longer makes
 *                     room for a new one
 */
public record StoreLimits(int keyBytes, int valueBytes, int keysARequest, int requestBytes, int keys, long totalBytes, int connections,
        Duration greeting) {
    /** {@return limits far above what thousands of ranks need, and far below what would harm a process} */
    public static StoreLimits defaults() {
        return new StoreLimits(4096, 8 << 20, 65_536, 32 << 20, 1 << 20, 256L << 20, 16_384, Duration.ofSeconds(5));
    }

    /** {@return the limits for a client that has not greeted as it must: room for a greeting} */
    StoreLimits ofGreeting() {
        return new StoreLimits(0, StoreToken.PROOF_BYTES, 0, StoreToken.PROOF_BYTES, keys, totalBytes, connections, greeting);
    }
}
