/** Symmetric memory in the memory of CUDA devices. */
@SuppressWarnings("module")
module org.symmem.cuda {
    requires transitive org.symmem;
    requires org.symmem.rendezvous;
    requires static org.jspecify;

    // Backends whose memory is on CUDA devices too share the engine, the streams and the signal pads.
    exports org.symmem.cuda to org.symmem.nccl, org.symmem.nvshmem;

    provides org.symmem.spi.BackendProvider with org.symmem.cuda.CudaBackendProvider;
}
