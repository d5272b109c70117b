/** Symmetric memory: the interface for users and the one for backends. Depends on the JDK alone. */
module org.symmem {
    requires static transitive org.jspecify;

    exports org.symmem;
    exports org.symmem.spi;

    uses org.symmem.spi.BackendProvider;
    uses org.symmem.spi.GroupConnector;
}
