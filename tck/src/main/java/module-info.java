/** The compatibility kit: numbered rules for backends, run by one process a rank. */
module org.symmem.tck {
    requires transitive org.symmem;
    requires org.symmem.collectives;
    requires org.symmem.rendezvous;
    requires transitive org.junit.jupiter.api;
    requires static org.jspecify;

    exports org.symmem.tck;
    opens org.symmem.tck;
}
