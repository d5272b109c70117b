package org.symmem.tck;

/** The host backend is the reference: every rule must pass over it. */
class HostTck extends BackendTck {
    @Override
    protected TckSettings settings() {
        return TckSettings.forBackend("host").withRanks(Integer.getInteger("symmem.tck.ranks", 2));
    }
}
