/** Symmetric memory in the memory of CUDA devices. */
module org.symmem.cuda {
    requires transitive org.symmem;
    requires org.symmem.rendezvous;
    requires static org.jspecify;

    exports org.symmem.cuda;

    provides org.symmem.spi.BackendProvider with org.symmem.cuda.CudaBackendProvider;
}
