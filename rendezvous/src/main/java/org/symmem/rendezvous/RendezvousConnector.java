package org.symmem.rendezvous;

import java.time.Duration;
import java.util.Map;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.spi.GroupConnector;

public final class RendezvousConnector implements GroupConnector {
    @Override
    public ProcessGroup fromEnvironment(Map<String, String> environment) {
        throw new IllegalStateException();
    }

    @Override
    public ProcessGroup over(int rank, int worldSize, KeyValueStore store, String name) {
        return new StoreProcessGroup(name, rank, worldSize, rank, Duration.ofSeconds(10), store, () -> {});
    }
}
