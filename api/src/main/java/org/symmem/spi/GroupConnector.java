package org.symmem.spi;

import java.util.Map;
import java.util.ServiceLoader;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;

/** Makes process groups; found by {@link ServiceLoader}. The module {@code org.symmem.rendezvous} brings the one in use. */
public interface GroupConnector {
    /** {@return the connector on the class path or module path} */
    static GroupConnector installed() {
        return ServiceLoader.load(GroupConnector.class)
                .findFirst()
                // A thread's context loader may see less than the loader of this library does.
                .or(() -> ServiceLoader.load(GroupConnector.class, GroupConnector.class.getClassLoader()).findFirst())
                .orElseThrow(() -> new IllegalStateException(
                        "no GroupConnector found; add org.symmem:symmem-rendezvous to the class path or module path"));
    }

    /**
     * @param environment the variables of the process
     * @return the group that {@link ProcessGroup#fromEnvironment()} describes
     */
    ProcessGroup fromEnvironment(Map<String, String> environment);

    /** See {@link ProcessGroup#of}. */
    ProcessGroup over(int rank, int worldSize, KeyValueStore store, String name);
}
