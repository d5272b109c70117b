/** Broadcast and allgather on symmetric memory. */
@NullMarked
package org.symmem.collectives;

import org.jspecify.annotations.NullMarked;
