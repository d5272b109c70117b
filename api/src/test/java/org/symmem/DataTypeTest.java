package org.symmem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DataTypeTest {
    @ParameterizedTest
    @EnumSource(DataType.class)
    void everyByteOrShortPatternOfANumberComesBackUnchanged(DataType type) {
        long patterns = type.sizeBytes() == 1 ? 256 : 65_536;
        long shift = type.sizeBytes() <= 2 ? 0 : 8L * (type.sizeBytes() - 2);
        for (long pattern = 0; pattern < patterns; pattern++) {
            long bits = pattern << shift;
            double value = type.fromBits(bits);
            boolean hasOnePattern = !Double.isNaN(value) && !(type == DataType.BOOL && bits > 1) && type != DataType.INT64;
            if (hasOnePattern) {
                assertThat(type.toBits(value)).as("%s %x", type, bits).isEqualTo(bits);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "FLOAT8_E4M3, 448, 7e", "FLOAT8_E4M3, 464, 7e", "FLOAT8_E4M3, 465, 7f", "FLOAT8_E4M3, -448, fe", "FLOAT8_E4M3, 0.001953125, 01",
        "FLOAT8_E4M3, 0.0009765625, 00", "FLOAT8_E4M3, 0.00098, 01", "FLOAT8_E4M3, 1, 38", "FLOAT8_E4M3, Infinity, 7f",
        "FLOAT8_E5M2, 57344, 7b", "FLOAT8_E5M2, 61440, 7c", "FLOAT8_E5M2, 1, 3c", "FLOAT8_E5M2, -Infinity, fc", "FLOAT8_E5M2, 1.125, 3c",
        "FLOAT8_E5M2, 1.375, 3e", "BFLOAT16, 1, 3f80", "BFLOAT16, 1.00390625, 3f80", "BFLOAT16, 1.01171875, 3f82", "BFLOAT16, 3.4e38, 7f80",
        "FLOAT16, 65504, 7bff", "FLOAT16, 65520, 7c00", "INT8, -1, ff", "UINT8, 255, ff", "INT16, -2, fffe", "BOOL, 1, 01"
    })
    void roundsToTheNearestValueTiesToEven(DataType type, double value, String bits) {
        assertThat(type.toBits(value)).isEqualTo(Long.parseLong(bits, 16));
    }

    @ParameterizedTest
    @CsvSource({"BOOL, 2", "INT8, 128", "UINT8, -1", "INT16, 0.5", "INT32, 2147483648", "INT64, NaN"})
    void integersRefuseWhatTheyCannotHold(DataType type, double value) {
        assertThatThrownBy(() -> type.toBits(value)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(type.toString());
    }

    @Test
    void notANumberStaysSo() {
        for (DataType type : new DataType[]{DataType.FLOAT8_E4M3, DataType.FLOAT8_E5M2, DataType.BFLOAT16, DataType.FLOAT16}) {
            assertThat(type.fromBits(type.toBits(Double.NaN))).as(type.toString()).isNaN();
        }
    }
}
