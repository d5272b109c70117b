package org.symmem;

import java.util.Set;
import org.symmem.spi.StreamQueue;
import org.symmem.spi.Transfers;

/** Whose memory a {@link TensorView} shows: it says whether the view may still be used, and who moves its data. */
abstract sealed class ViewOwner permits SymmetricTensor, GlobalTensor {
    final SymmetricMemory memory;

    ViewOwner(SymmetricMemory memory) {
        this.memory = memory;
    }

    /** {@return whether the memory is given back} */
    abstract boolean closed();

    /** {@return the view of this rank's own memory} */
    abstract TensorView own();

    /** {@return the streams that closing waits for; any thread may add to it} */
    abstract Set<Stream> streams();

    /** {@return what moves data at once} */
    final Transfers blocking() {
        return memory.blocking();
    }

    /** {@return the stream's queue; closing the owner will wait for what is put on it} */
    final StreamQueue useOn(Stream stream) {
        ensureOpen();
        StreamQueue queue = stream.queue();
        if (!streams().contains(stream)) {
            streams().add(stream);
        }
        return queue;
    }

    final void ensureOpen() {
        if (closed()) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    final void require(Capability capability) {
        if (memory.capability(capability) instanceof Support.No no) {
            throw unsupported(capability, no.reason());
        }
    }

    final UnsupportedCapabilityException unsupported(Capability capability, String reason) {
        return new UnsupportedCapabilityException(capability, memory.backend(), reason);
    }
}
