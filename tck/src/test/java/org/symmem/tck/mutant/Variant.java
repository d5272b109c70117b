package org.symmem.tck.mutant;

/** Backends that are right, with other capabilities than the host backend: no rule may fail over them. */
public enum Variant {
    /** Lacks everything that a backend may lack. */
    LACKS_EVERYTHING(new LacksEverything()),

    /** Has multicast, by as many copies as there are ranks, and native streams, by numbering its own. */
    HAS_EVERYTHING(new HasEverything());

    private final Change change;

    Variant(Change change) {
        this.change = change;
    }

    Change change() {
        return change;
    }
}
