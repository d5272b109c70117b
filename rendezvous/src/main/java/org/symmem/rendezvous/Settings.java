package org.symmem.rendezvous;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/** Settings of the meeting place: a system property, else a variable, else a default. A wrong one is an error, never ignored. */
final class Settings {
    static final String TIMEOUT_PROPERTY = "symmem.timeout";
    static final String TIMEOUT_VARIABLE = "SYMMEM_TIMEOUT";
    static final String DESCRIPTORS_PROPERTY = "symmem.descriptors";
    static final String DESCRIPTORS_VARIABLE = "SYMMEM_DESCRIPTORS";
    static final String LISTEN_PROPERTY = "symmem.store.listen";
    static final String LISTEN_VARIABLE = "SYMMEM_STORE_LISTEN";

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    private Settings() {}

    /** {@return how long collective steps wait unless told otherwise} */
    static Duration timeout(Map<String, String> variables) {
        return value(TIMEOUT_PROPERTY, TIMEOUT_VARIABLE, variables).map(Settings::seconds).orElse(DEFAULT_TIMEOUT);
    }

    private static Duration seconds(String text) {
        try {
            double seconds = Double.parseDouble(text.strip());
            if (seconds > 0 && seconds <= 1e6) {
                return Duration.ofNanos((long) (seconds * 1e9));
            }
        } catch (NumberFormatException e) {
            // Said below, with the other wrong values.
        }
        throw new SymmetricMemoryException(ErrorCode.SETTING, TIMEOUT_PROPERTY + " (or " + TIMEOUT_VARIABLE + ") is \"" + text
                + "\"; it is a number of seconds above 0, for instance 60 or 2.5");
    }

    /** {@return the setting, if the property or the variable is set} */
    static Optional<String> value(String property, String variable, Map<String, String> variables) {
        return Optional.ofNullable(System.getProperty(property)).or(() -> Optional.ofNullable(variables.get(variable)));
    }
}
