package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.symmem.ProviderReport;
import org.symmem.SymmetricMemory;
import org.symmem.host.HostBackendProvider;
import org.symmem.rendezvous.LocalLauncher;
import org.symmem.spi.GroupConnector;

/** Providers are found by {@link java.util.ServiceLoader} whichever way the program was put together. */
class ProvidersTest {
    @Test
    void providersAreFoundOnTheClassPath() {
        assertThat(SymmetricMemory.providers()).extracting(ProviderReport::name).contains("host");
        assertThat(GroupConnector.installed()).isNotNull();
    }

    @Test
    void providersAreFoundFromAThreadWhoseContextLoaderSeesNone() {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        try {
            assertThat(SymmetricMemory.providers()).extracting(ProviderReport::name).contains("host");
            assertThat(GroupConnector.installed()).isNotNull();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Test
    void providersAreFoundOnTheModulePath() throws Exception {
        Path[] path = Stream.of(SymmetricMemory.class, LocalLauncher.class, HostBackendProvider.class)
                .map(ProvidersTest::placeOf)
                .toArray(Path[]::new);
        // Nobody asks for the backend and the connector by name: that the API uses their services brings them in.
        Configuration configuration = ModuleLayer.boot()
                .configuration()
                .resolveAndBind(ModuleFinder.of(path), ModuleFinder.of(), Set.of("org.symmem"));
        ModuleLayer.Controller controller = ModuleLayer.defineModulesWithOneLoader(configuration, List.of(ModuleLayer.boot()),
                ClassLoader.getPlatformClassLoader());
        ModuleLayer layer = controller.layer();
        assertThat(layer.modules()).extracting(Module::getName).contains("org.symmem", "org.symmem.rendezvous", "org.symmem.host");
        controller.enableNativeAccess(layer.findModule("org.symmem.rendezvous").orElseThrow());

        ClassLoader loader = layer.findLoader("org.symmem");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            List<?> reports = (List<?>) loader.loadClass("org.symmem.SymmetricMemory").getMethod("providers").invoke(null);
            assertThat(reports).singleElement().asString().contains("name=host", "Available[");
            Object connector = loader.loadClass("org.symmem.spi.GroupConnector").getMethod("installed").invoke(null);
            assertThat(connector.getClass().getModule().getName()).isEqualTo("org.symmem.rendezvous");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static Path placeOf(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
