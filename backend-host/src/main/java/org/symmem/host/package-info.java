/**
 * The backend {@code host}: ranks of one host, processes or threads, share sealed memfds. The embedded default, and the
 * reference for the compatibility kit.
 */
@NullMarked
package org.symmem.host;

import org.jspecify.annotations.NullMarked;
