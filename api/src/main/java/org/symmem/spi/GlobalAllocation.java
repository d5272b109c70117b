package org.symmem.spi;

/** Ordinary memory of one rank's device, which no peer reaches. Zero when it is made. */
public interface GlobalAllocation extends AutoCloseable {
    /** {@return the memory; exactly the size that was asked for, and a source and target of the backend's transfers} */
    Memory memory();

    /** Frees the memory. */
    @Override
    void close();
}
