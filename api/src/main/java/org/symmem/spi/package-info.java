/**
 * What a backend implements. A backend is one {@link org.symmem.spi.BackendProvider}, found by {@link java.util.ServiceLoader},
 * which opens one {@link org.symmem.spi.Backend} a process group. Argument checks, closed states, the agreement of ranks on
 * sizes and order, and the choice of backend are done above this interface, once for all backends.
 */
@NullMarked
package org.symmem.spi;

import org.jspecify.annotations.NullMarked;
