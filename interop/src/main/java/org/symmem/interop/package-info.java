/** Java's part in jobs with Python ranks and under other launchers; what {@code interop/run} starts. */
@NullMarked
package org.symmem.interop;

import org.jspecify.annotations.NullMarked;
