package org.symmem.cli;

import java.util.Optional;

/** What the settings say about backends. */
final class Backends {
    private Backends() {}

    /** A backend that was asked for, and by what. */
    record Request(String backend, String source) {}

    /** {@return the backend that this process's settings ask for} */
    static Optional<Request> askedFor() {
        return Optional.ofNullable(System.getProperty("symmem.backend"))
                .map(name -> new Request(name, "the property symmem.backend"))
                .or(() -> Optional.ofNullable(System.getenv("SYMMEM_BACKEND"))
                        .map(name -> new Request(name, "the variable SYMMEM_BACKEND")));
    }

    /** {@return whether the native libraries are emulated, so that results say nothing about hardware} */
    static boolean emulated() {
        return Boolean.getBoolean(Emulated.PROPERTY);
    }

    /** {@return the line above a table of ranks} */
    static String headline(int ranks, String backends) {
        return ranks + (ranks == 1 ? " rank" : " ranks") + ", backend " + backends
                + (emulated() ? " (EMULATED libraries: says nothing about hardware)" : "");
    }
}
