package org.symmem.rendezvous;

import java.time.Duration;
import java.util.List;

/** An engine's own way to give every rank what every rank contributed. */
@FunctionalInterface
public interface AllGather {
    /**
     * Collective.
     *
     * @param contribution this rank's bytes
     * @param timeout      how long to wait for the slowest rank
     * @return every rank's bytes, in rank order
     */
    List<byte[]> gather(byte[] contribution, Duration timeout);
}
