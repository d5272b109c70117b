package org.symmem.nccl;

/** The kit over the newest version that was looked at. */
class EmulatedNccl2307Tck extends BriefNcclTck {
    EmulatedNccl2307Tck() {
        super("2.30.7");
    }
}
