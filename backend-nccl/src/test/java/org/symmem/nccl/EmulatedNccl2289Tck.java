package org.symmem.nccl;

/** The whole kit over an NCCL without getters of peer pointers. */
class EmulatedNccl2289Tck extends NcclTck {
    EmulatedNccl2289Tck() {
        super("2.28.9");
    }
}
