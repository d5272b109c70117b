package org.symmem.cuda;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.symmem.ProcessGroup;
import org.symmem.linux.Descriptor;
import org.symmem.spi.Agreement;

/** How references to memory reach the other ranks: as POSIX descriptors within a host, or as fabric handles, which are bytes. */
interface HandleExchange extends AutoCloseable {
    /** What one rank gave. */
    interface Received {
        /** {@return its note} */
        byte[] note();

        /**
         * @param index     which of its memories
         * @param sizeBytes the memory's size
         * @param purpose   for errors
         * @return a reference to it; not for this rank's own
         */
        PhysicalMemory memory(int index, long sizeBytes, String purpose);
    }

    /**
     * Gives every rank every rank's memories, and lets each use them. Collective; every rank fails if one does, in exporting, handing
     * over or using.
     *
     * @param agreement with the ranks
     * @param step      what they are used for, as a phrase
     * @param own       this rank's memories, asked with the device's context current
     * @param note      a few bytes that go with them, 4000 at most
     * @param use       runs with the device's context current, with what each rank gave, in rank order
     */
    void exchange(Agreement agreement, String step, Supplier<List<PhysicalMemory>> own, byte[] note, Consumer<List<Received>> use);

    /** {@return one more reference to an own memory, got as a peer would get it} */
    default PhysicalMemory again(PhysicalMemory own, String purpose) {
        if (handleType() == CudaStructures.FABRIC) {
            return PhysicalMemory.importedFromFabric(own.exportToFabric(purpose), own.sizeBytes(), purpose);
        }
        try (Descriptor descriptor = own.export(purpose)) {
            return PhysicalMemory.imported(descriptor.fd(), own.sizeBytes(), purpose);
        }
    }

    /** {@return the driver's number for the type of handle, which memory must be created with} */
    int handleType();

    /** {@return ranks that are known to be gone} Local, any thread, only looks. */
    Set<Integer> lostRanks();

    /** {@return a group of the same ranks that meets by the shortest way there is} */
    ProcessGroup meetingGroup(ProcessGroup joined);

    /** {@return the way in words} */
    String describe();

    @Override
    void close();
}
