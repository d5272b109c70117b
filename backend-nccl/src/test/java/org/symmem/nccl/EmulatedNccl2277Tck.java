package org.symmem.nccl;

/** The kit over the oldest line with windows, as its last release. */
class EmulatedNccl2277Tck extends BriefNcclTck {
    EmulatedNccl2277Tck() {
        super("2.27.7");
    }
}
