package org.symmem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ShapeTest {
    @Test
    void countsElementsBeyondTwoGibi() {
        assertThat(Shape.of(3, 1L << 31).elements()).isEqualTo(3L << 31);
        assertThat(Shape.of().elements()).isEqualTo(1);
    }

    @Test
    void denseStridesCountElementsOfInnerDimensions() {
        assertThat(Shape.of(2, 3, 5).denseStrides()).containsExactly(15, 5, 1);
    }

    @Test
    void refusesEmptyNegativeAndTooLargeExtents() {
        assertThatThrownBy(() -> Shape.of(2, 0)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("[2, 0]");
        assertThatThrownBy(() -> Shape.of(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Shape.of(1L << 40, 1L << 40)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too many");
    }

    @Test
    void isEqualByExtents() {
        assertThat(Shape.of(2, 3)).isEqualTo(Shape.of(2, 3)).isNotEqualTo(Shape.of(3, 2)).hasToString("2x3");
        assertThat(Shape.of(3).prepend(2)).isEqualTo(Shape.of(2, 3));
    }
}
