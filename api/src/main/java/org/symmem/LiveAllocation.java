package org.symmem;

import java.util.Optional;

/**
 * A tensor that is not closed.
 *
 * @param tensor it in words, with its shape and type
 * @param site   where it was allocated, if {@code symmem.debug} is true
 */
public record LiveAllocation(String tensor, Optional<Throwable> site) {}
