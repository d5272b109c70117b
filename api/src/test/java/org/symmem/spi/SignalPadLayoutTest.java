package org.symmem.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SignalPadLayoutTest {
    @Test
    void offsetsStayAsPublished() {
        assertThat(new long[]{SignalPadLayout.MAGIC_OFFSET, SignalPadLayout.VERSION_OFFSET, SignalPadLayout.WORLD_SIZE_OFFSET,
            SignalPadLayout.CHANNELS_OFFSET, SignalPadLayout.HEADER_BYTES})
                .containsExactly(0, 4, 8, 12, 128);
        assertThat(new long[]{SignalPadLayout.SIGNALS_IN_SLOT, SignalPadLayout.SIGNALS_SLEEPING_IN_SLOT, SignalPadLayout.ARRIVALS_IN_SLOT,
            SignalPadLayout.ARRIVALS_SLEEPING_IN_SLOT, SignalPadLayout.SLOT_BYTES})
                .containsExactly(0, 8, 64, 72, 128);
        assertThat(SignalPadLayout.MAGIC).isEqualTo(0x44504d53);
        assertThat(SignalPadLayout.VERSION).isEqualTo(1);
    }

    @Test
    void everySlotHasItsOwnPlaceInsideThePad() {
        SignalPadLayout layout = new SignalPadLayout(4, 3);
        assertThat(layout.sizeBytes()).isEqualTo(128 + 128 * 12);
        assertThat(layout.signalsOffset(0, 0)).isEqualTo(128);
        assertThat(layout.signalsOffset(1, 2)).isEqualTo(128 + 128 * 6);
        assertThat(layout.arrivalsOffset(2, 3) + 16).isLessThanOrEqualTo(layout.sizeBytes());
    }
}
