/** Linux system calls through {@code java.lang.foreign}, for the meeting place and the backends. Not for users. */
@NullMarked
package org.symmem.linux;

import org.jspecify.annotations.NullMarked;
