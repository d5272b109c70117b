/** Broadcast and allgather over any backend, written against the users' interface alone. */
module org.symmem.collectives {
    requires transitive org.symmem;
    requires static org.jspecify;

    exports org.symmem.collectives;
}
