package org.symmem.cuda;

import java.util.Optional;
import org.symmem.SymmetricMemoryException;

/** Something on a stream that waits for other ranks, and has a deadline. */
public interface StreamWait {
    /** {@return whether it should be over by now} */
    boolean deadlineHasPassed();

    /** {@return whether the stream is past it} */
    boolean isOver();

    /** Makes the stream go on if it is still parked. {@return the error, if it was} */
    Optional<SymmetricMemoryException> releaseIfParked();

    /** Called once, when the stream is past it. {@return the error that it came to, if it was not noticed yet} */
    default Optional<SymmetricMemoryException> end() {
        return Optional.empty();
    }
}
