package org.symmem.spi;

import org.symmem.Availability;
import org.symmem.ProcessGroup;

/**
 * A backend that can be found by {@link java.util.ServiceLoader}. Its constructor and static initialisers do nothing that can
 * fail: no native library is touched before {@link #availability()}.
 */
public interface BackendProvider {
    /** {@return the name by which users choose it: lower-case letters, digits and hyphens} */
    String name();

    /** {@return the preference among available backends; the highest wins. The project's own: host 0, cuda 100} */
    int priority();

    /**
     * Finds out whether the backend can be used, by really trying in small, without side effects and without throwing: a
     * missing library or a {@link LinkageError} is an answer. Local; may be called often and by several threads.
     *
     * @return the answer
     */
    Availability availability();

    /**
     * Opens the backend for a group. Collective; called on every rank of the group at once.
     *
     * @param group     the ranks
     * @param agreement makes every step end alike on all ranks
     * @return the backend at work; the caller closes it
     */
    Backend open(ProcessGroup group, Agreement agreement);
}
