package org.symmem.nccl;

/**
 * The kit without the rules of load, which take a quarter of its time and try what no version does differently: over 2.28.9 they are
 * run. A method that is overridden without the annotation is no test.
 */
abstract class BriefNcclTck extends NcclTck {
    BriefNcclTck(String version) {
        super(version);
    }

    @Override
    public final void SM_LOAD_1_manyCyclesLeaveMemoryAndDescriptorsFlat() {}

    @Override
    public final void SM_LOAD_2_sixtyFourRanksMeetAndReadEachOther() {}

    @Override
    public final void SM_LOAD_3_barriersWithRandomDelaysOrderStores() {}

    @Override
    public final void SM_LOAD_4_overlappingGroupsSynchroniseAtOnce() {}

    @Override
    public final void SM_LOAD_5_twoThreadsWithAStreamEachCopyAtOnce() {}
}
