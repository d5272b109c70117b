/**
 * Symmetric memory for users: open it on a {@link org.symmem.ProcessGroup}, allocate tensors of the same size on every rank,
 * rendezvous once, and from then on read, write and signal the other ranks' memory by plain address.
 *
 * <p>Start at {@link org.symmem.SymmetricMemory}. Every method says whether it is <em>local</em> or <em>collective</em>
 * (all ranks of the group must call it, in the same order) and whether it blocks the caller or runs in the order of a
 * {@link org.symmem.Stream}. Sizes and offsets are {@code long}: bytes where the name ends so, elements otherwise.
 */
@NullMarked
package org.symmem;

import org.jspecify.annotations.NullMarked;
