/** Who the ranks are and how they meet: process groups, the store, agreement over it, and passing descriptors. */
module org.symmem.rendezvous {
    requires transitive org.symmem;
    requires static org.jspecify;

    exports org.symmem.rendezvous;
    exports org.symmem.linux;

    provides org.symmem.spi.GroupConnector with org.symmem.rendezvous.RendezvousConnector;
}
