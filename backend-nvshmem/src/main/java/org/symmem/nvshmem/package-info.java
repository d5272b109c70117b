/**
 * The backend {@code nvshmem}: buffers in the symmetric heap of NVSHMEM's host library, which is the machine's and is loaded when it
 * is asked for, through a small native shim. Copies, signals and waits go over the addresses that the library maps, by the engine
 * that the CUDA backend has.
 */
@NullMarked
package org.symmem.nvshmem;

import org.jspecify.annotations.NullMarked;
