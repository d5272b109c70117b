package org.symmem.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The texts are made up by the print statements of the programs, not captured from a run. */
class GpuFiguresTest {
    private static final long MIB = 1 << 20;

    @Test
    void rawCallsAreRead() {
        assertThat(GpuFigures.rawCalls("""
                alloc_us,exchange_us 2 MiB [730, 1600]
                alloc_us,exchange_us 2 MiB [170, 860]
                alloc_us,exchange_us 2 MiB [180, 900]
                copy_to_peer_2MiB_senders1_GBps_oneway 400.0
                copy_to_local_64MiB_senders1_GBps_oneway 2000.0
                copy_to_peer_2MiB_senders2_GBps_oneway 100.0
                write_wait_roundtrip_us 9.4
                write_wait_synced_roundtrip_us 15.2
                """)).containsExactly(new Peers.Figure("allocate", 2 * MIB, 180e3), new Peers.Figure("rendezvous", 2 * MIB, 900e3),
                new Peers.Figure("put", 2 * MIB, 2 * MIB / 400.0), new Peers.Figure("local", 64 * MIB, 64 * MIB / 2000.0),
                new Peers.Figure("signal", 0, 9400));
        assertThat(GpuFigures.rawBarrier("""
                4 ranks all-to-all barrier us 44.0
                4 ranks all-to-all barrier us 40.0
                4 ranks 1 KiB allgather by peer copies us 468.0
                """)).containsExactly(new Peers.Figure("barrier", 0, 40_000));
        assertThat(GpuFigures.rawCollectives("raw_broadcast_1024B 12.500 us\nraw_allgather_65536B 20.000 us\n"))
                .containsExactly(new Peers.Figure("broadcast", 1024, 12_500), new Peers.Figure("allgather", 65536, 20_000));
    }

    @Test
    void whatNvshmemPrintsBeforeItEndsTheProcessIsRead() {
        assertThat(GpuFigures.nvshmem("""
                init_ms 330.0
                malloc256MiB_ms_first 3.1
                malloc2MiB_us_median 2400.0
                barrier_on_stream_us_100 300.0
                barrier_on_stream_us_1000 290.0
                put_2MiB_senders1_GBps_oneway 200.0
                put_2MiB_senders2_GBps_oneway 150.0
                """)).containsExactly(new Peers.Figure("put", 2 * MIB, 2 * MIB / 200.0), new Peers.Figure("barrier", 0, 290_000));
    }

    @Test
    void pytorchIsRead() {
        assertThat(GpuFigures.torch("""
                allocate_2MiB 150.00 us
                rendezvous_2MiB 1470.00 us
                barrier 19.70 us
                copy_256MiB_one_sender 2000.00 GB/s
                """)).containsExactly(new Peers.Figure("allocate", 2 * MIB, 150e3), new Peers.Figure("rendezvous", 2 * MIB, 1470e3),
                new Peers.Figure("barrier", 0, 19_700), new Peers.Figure("put", 256 * MIB, 256 * MIB / 2000.0));
    }

    @Test
    void whereThereIsNoGpuEachSaysSo(@TempDir Path folder) throws Exception {
        Assumptions.assumeFalse(Files.exists(Path.of("/dev/nvidiactl")), "this machine has one");
        try (Peers peers = new Peers(folder, 2, new long[]{8})) {
            for (Peers.Peer peer : peers.all(Peers.Ours.DEVICE)) {
                assertThatThrownBy(() -> peer.run().run()).as(peer.name())
                        .isInstanceOf(Peers.NotRunException.class)
                        .hasMessageContaining("this machine has no NVIDIA GPU");
            }
        }
    }
}
