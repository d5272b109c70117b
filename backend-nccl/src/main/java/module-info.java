/** Symmetric memory in windows of NCCL. */
module org.symmem.nccl {
    requires transitive org.symmem;
    requires org.symmem.rendezvous;
    requires org.symmem.cuda;
    requires org.bytedeco.cuda;
    requires org.bytedeco.javacpp;
    requires static org.jspecify;

    provides org.symmem.spi.BackendProvider with org.symmem.nccl.NcclBackendProvider;
}
