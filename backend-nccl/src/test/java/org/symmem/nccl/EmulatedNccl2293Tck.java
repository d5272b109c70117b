package org.symmem.nccl;

/** The kit over the first line with getters of peer pointers. */
class EmulatedNccl2293Tck extends BriefNcclTck {
    EmulatedNccl2293Tck() {
        super("2.29.3");
    }
}
