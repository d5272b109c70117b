package org.symmem.rendezvous;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/**
 * A secret that a store and its clients share, so that neither talks to anybody else who reaches the port. It never goes over the
 * wire: each side proves that it knows it, by a keyed hash of two numbers that are used once. What is said afterwards is not
 * encrypted.
 *
 * <pre>
 *   client                                  store
 *   VALIDATE magic
 *   AUTHENTICATE client's number (16)   --&gt;
 *                                       &lt;-- value: store's number (16), store's proof (32)
 *   AUTHENTICATE client's proof (32)    --&gt;
 *                                       &lt;-- u8 0, or the end of the connection
 * </pre>
 *
 * <p>Taken from a variable and not from a property: other users can read the properties of a command line.
 */
final class StoreToken {
    static final String VARIABLE = "SYMMEM_STORE_TOKEN";
    static final int NUMBER_BYTES = 16;
    static final int PROOF_BYTES = 32;
    private static final int SHORTEST = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Who proves something: the proof of one side is none of the other's. */
    enum Side {
        CLIENT, STORE
    }

    private final byte[] secret;

    private StoreToken(byte[] secret) {
        this.secret = secret;
    }

    /**
     * @param token at least 16 characters
     * @throws SymmetricMemoryException if it is shorter
     */
    static StoreToken of(String token) {
        if (token.length() < SHORTEST) {
            throw new SymmetricMemoryException(ErrorCode.SETTING, "the job token (" + VARIABLE + ") has " + token.length()
                    + " characters; it has at least " + SHORTEST + ", for instance those that openssl rand -hex 16 prints");
        }
        return new StoreToken(token.getBytes(StandardCharsets.UTF_8));
    }

    /** {@return the token of these variables, if they have one} */
    static Optional<StoreToken> of(Map<String, String> variables) {
        return Optional.ofNullable(variables.get(VARIABLE)).map(StoreToken::of);
    }

    static byte[] newNumber() {
        byte[] number = new byte[NUMBER_BYTES];
        RANDOM.nextBytes(number);
        return number;
    }

    byte[] proof(Side side, byte[] clientNumber, byte[] storeNumber) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            mac.update(("symmem store, " + side).getBytes(StandardCharsets.US_ASCII));
            mac.update(clientNumber);
            return mac.doFinal(storeNumber);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has HmacSHA256", e);
        }
    }

    boolean proves(byte[] proof, Side side, byte[] clientNumber, byte[] storeNumber) {
        return MessageDigest.isEqual(proof, proof(side, clientNumber, storeNumber));
    }

    /** {@return the store's answer to a client's number} */
    byte[] answer(byte[] clientNumber, byte[] storeNumber) {
        return ByteBuffer.allocate(NUMBER_BYTES + PROOF_BYTES)
                .put(storeNumber)
                .put(proof(Side.STORE, clientNumber, storeNumber))
                .array();
    }
}
