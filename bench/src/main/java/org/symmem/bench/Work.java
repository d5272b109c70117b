package org.symmem.bench;

/** An operation made ready for one size. Collective: every rank asks for the same batches in the same order. */
interface Work extends AutoCloseable {
    /**
     * @param calls how many
     * @return how long they took on this rank, in nanoseconds; ranks that only look on return at once
     */
    long nanos(int calls);

    @Override
    void close();
}
