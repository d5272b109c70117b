package org.symmem;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * Providers as seen from the thread's context class loader and from the loader of this library: a thread of an application
 * server, or one that native code attached, may have a context loader that sees none.
 */
final class InstalledServices {
    private static final System.Logger LOG = System.getLogger("org.symmem");

    private InstalledServices() {}

    /** {@return each provider's class once, in the order in which it is found} */
    static <S> List<ServiceLoader.Provider<S>> of(Class<S> service) {
        Map<Class<? extends S>, ServiceLoader.Provider<S>> found = new LinkedHashMap<>();
        find(ServiceLoader.load(service), found);
        find(ServiceLoader.load(service, service.getClassLoader()), found);
        return List.copyOf(found.values());
    }

    private static <S> void find(ServiceLoader<S> loader, Map<Class<? extends S>, ServiceLoader.Provider<S>> found) {
        var providers = loader.stream().iterator();
        while (true) {
            try {
                if (!providers.hasNext()) {
                    return;
                }
                ServiceLoader.Provider<S> provider = providers.next();
                found.putIfAbsent(provider.type(), provider);
            } catch (ServiceConfigurationError e) {
                // A line that names no class: the loader goes on behind it.
                LOG.log(System.Logger.Level.WARNING, "a provider cannot be loaded: " + e.getMessage());
            }
        }
    }
}
