package org.symmem.tck;

import java.nio.file.Path;

/** The kit over the mutant that {@code symmem.tck.mutant} names. Run by {@link MutantTest}, not by the build. */
class MutantTck extends BackendTck {
    static final Path OUTPUT = Path.of("target", "tck-mutants");

    @Override
    protected TckSettings settings() {
        return TckSettings.forBackend("mutant").withRanks(Integer.getInteger("symmem.tck.ranks", 2)).withOutput(OUTPUT);
    }
}
