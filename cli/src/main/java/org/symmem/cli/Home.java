package org.symmem.cli;

import java.nio.file.Path;
import java.util.Optional;

/** Where the {@code symmem} script lies: a source checkout, or a bundle. */
final class Home {
    private static final String PROPERTY = "symmem.home";

    private Home() {}

    /** {@return the folder, if the script started this} */
    static Optional<Path> folder() {
        return Optional.ofNullable(System.getProperty(PROPERTY)).map(Path::of);
    }
}
