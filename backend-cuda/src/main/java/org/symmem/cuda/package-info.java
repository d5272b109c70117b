/**
 * The backend {@code cuda}: device memory shared among ranks by CUDA's virtual memory management. The driver, {@code libcuda.so.1},
 * is called through {@code java.lang.foreign}.
 */
@NullMarked
package org.symmem.cuda;

import org.jspecify.annotations.NullMarked;
