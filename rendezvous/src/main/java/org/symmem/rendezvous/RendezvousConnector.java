package org.symmem.rendezvous;

import java.util.Map;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.spi.GroupConnector;

/** What {@link ProcessGroup}'s factories find by {@link java.util.ServiceLoader}. */
public final class RendezvousConnector implements GroupConnector {
    @Override
    public ProcessGroup fromEnvironment(Map<String, String> variables) {
        return ProcessGroups.fromEnvironment(variables);
    }

    @Override
    public ProcessGroup over(int rank, int worldSize, KeyValueStore store, String name) {
        return ProcessGroups.over(store, name, rank, worldSize, rank, Settings.timeout(System.getenv()));
    }
}
