package org.symmem.rendezvous;

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
 */
public record StoreLimits(int keyBytes, int valueBytes, int keysARequest, int requestBytes, int keys, long totalBytes, int connections) {
    /** {@return limits far above what thousands of ranks need, and far below what would harm a process} */
    public static StoreLimits defaults() {
        return new StoreLimits(4096, 8 << 20, 65_536, 32 << 20, 1 << 20, 256L << 20, 16_384);
    }
}
