/** Symmetric memory in the heap of NVSHMEM. */
module org.symmem.nvshmem {
    requires transitive org.symmem;
    requires org.symmem.rendezvous;
    requires org.symmem.cuda;
    requires static org.jspecify;

    exports org.symmem.nvshmem;

    provides org.symmem.spi.BackendProvider with org.symmem.nvshmem.NvshmemBackendProvider;
}
