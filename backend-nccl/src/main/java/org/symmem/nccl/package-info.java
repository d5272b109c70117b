/** The backend {@code nccl}: memory of {@code ncclMemAlloc} in symmetric windows. Everything but its provider is its own. */
@NullMarked
package org.symmem.nccl;

import org.jspecify.annotations.NullMarked;
