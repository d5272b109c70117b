/** Symmetric memory in the shared memory of one host. */
module org.symmem.host {
    requires transitive org.symmem;
    requires org.symmem.rendezvous;
    requires static org.jspecify;

    exports org.symmem.host;

    provides org.symmem.spi.BackendProvider with org.symmem.host.HostBackendProvider;
}
