/** The {@code symmem} command: the main job, what this machine offers, the compatibility kit, and a simple launcher. */
@NullMarked
package org.symmem.cli;

import org.jspecify.annotations.NullMarked;
