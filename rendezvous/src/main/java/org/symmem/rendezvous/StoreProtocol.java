package org.symmem.rendezvous;

/**
 * The wire format of PyTorch's TCPStore (libuv server), as captured from PyTorch 2.11. Little-endian. A string is a u64 length and
 * that many bytes; a count is a u64.
 *
 * <pre>
 *   request                                          answer
 *   VALIDATE      u32 magic                          none; first on every connection
 *   SET           key, value                         none
 *   COMPARE_SET   key, expected, desired             value now stored
 *   GET           key                                value
 *   ADD           key, i64 delta                     i64 sum
 *   CHECK         count, keys                        u8: 0 all there, 1 not
 *   WAIT          count, keys                        u8 0 once all are there
 *   GETNUMKEYS                                       i64
 *   DELETE_KEY    key                                i64: 1 deleted, 0 was not there
 *   APPEND        key, value                         none
 *   MULTI_GET     count, keys                        that many values
 *   MULTI_SET     count, pairs of key and value      none
 *   CANCEL_WAIT                                      u8 1
 *   PING          u32 nonce                          the same u32
 *   AUTHENTICATE  value                              see StoreToken; between our own clients and servers only
 * </pre>
 */
final class StoreProtocol {
    static final int MAGIC = 0x3C85F7CE;

    static final byte VALIDATE = 0;
    static final byte SET = 1;
    static final byte COMPARE_SET = 2;
    static final byte GET = 3;
    static final byte ADD = 4;
    static final byte CHECK = 5;
    static final byte WAIT = 6;
    static final byte GETNUMKEYS = 7;
    static final byte DELETE_KEY = 8;
    static final byte APPEND = 9;
    static final byte MULTI_GET = 10;
    static final byte MULTI_SET = 11;
    static final byte CANCEL_WAIT = 12;
    static final byte PING = 13;
    /** Ours, far above those that PyTorch has: see {@link StoreToken}. A store without a token closes the connection. */
    static final byte AUTHENTICATE = 96;

    static final byte READY = 0;
    static final byte NOT_READY = 1;
    static final byte CANCELED = 1;

    /** PyTorch's client puts this before every key of its user; the keys of the connection itself have none. */
    static final String USER_KEY_PREFIX = "/";
    /** Each client that knows the world size adds 1 to this key when it connects. */
    static final String INIT_KEY = "init/";

    private StoreProtocol() {}
}
