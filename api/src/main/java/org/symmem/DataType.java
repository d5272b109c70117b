package org.symmem;

import java.util.Locale;

/** The type of a tensor's elements. Multi-byte elements are in the byte order of the machine. */
public enum DataType {
    /** One byte, 0 or 1. */
    BOOL(1),
    /** Signed, 8 bits. */
    INT8(1),
    /** Unsigned, 8 bits. */
    UINT8(1),
    /** Signed, 16 bits. */
    INT16(2),
    /** Signed, 32 bits. */
    INT32(4),
    /** Signed, 64 bits. */
    INT64(8),
    /** IEEE 754 binary16. */
    FLOAT16(2),
    /** The upper 16 bits of a binary32. */
    BFLOAT16(2),
    /** IEEE 754 binary32. */
    FLOAT32(4),
    /** IEEE 754 binary64. */
    FLOAT64(8),
    /** OCP FP8 with 4 exponent bits and 3 mantissa bits, no infinities, largest value 448. */
    FLOAT8_E4M3(1),
    /** OCP FP8 with 5 exponent bits and 2 mantissa bits, with infinities, largest value 57344. */
    FLOAT8_E5M2(1);

    private static final MiniFloat E4M3 = new MiniFloat(4, 3, false);
    private static final MiniFloat E5M2 = new MiniFloat(5, 2, true);

    private final int sizeBytes;

    DataType(int sizeBytes) {
        this.sizeBytes = sizeBytes;
    }

    /** {@return the size of one element, in bytes} */
    public int sizeBytes() {
        return sizeBytes;
    }

    /**
     * Converts a number to the bits of one element.
     *
     * @param value rounded to the nearest representable value, ties to even, for the floating-point types; the integer types
     *              take whole numbers in their range only
     * @return the element in the low {@code 8 * sizeBytes()} bits, the other bits zero
     * @throws IllegalArgumentException if an integer type cannot hold the value
     */
    public long toBits(double value) {
        return switch (this) {
            case BOOL -> whole(value, 0, 1);
            case INT8 -> whole(value, Byte.MIN_VALUE, Byte.MAX_VALUE) & 0xffL;
            case UINT8 -> whole(value, 0, 255);
            case INT16 -> whole(value, Short.MIN_VALUE, Short.MAX_VALUE) & 0xffffL;
            case INT32 -> whole(value, Integer.MIN_VALUE, Integer.MAX_VALUE) & 0xffff_ffffL;
            case INT64 -> whole(value, Long.MIN_VALUE, Long.MAX_VALUE);
            case FLOAT16 -> Float.floatToFloat16((float) value) & 0xffffL;
            case BFLOAT16 -> bfloat16Bits((float) value);
            case FLOAT32 -> Float.floatToRawIntBits((float) value) & 0xffff_ffffL;
            case FLOAT64 -> Double.doubleToRawLongBits(value);
            case FLOAT8_E4M3 -> E4M3.toBits(value);
            case FLOAT8_E5M2 -> E5M2.toBits(value);
        };
    }

    /**
     * Converts the bits of one element to a number.
     *
     * @param bits the element in the low {@code 8 * sizeBytes()} bits; the others are ignored
     * @return its value; rounded for {@link #INT64} beyond 2<sup>53</sup>
     */
    public double fromBits(long bits) {
        return switch (this) {
            case BOOL, UINT8 -> bits & 0xff;
            case INT8 -> (byte) bits;
            case INT16 -> (short) bits;
            case INT32 -> (int) bits;
            case INT64 -> bits;
            case FLOAT16 -> Float.float16ToFloat((short) bits);
            case BFLOAT16 -> Float.intBitsToFloat((int) (bits << 16));
            case FLOAT32 -> Float.intBitsToFloat((int) bits);
            case FLOAT64 -> Double.longBitsToDouble(bits);
            case FLOAT8_E4M3 -> E4M3.fromBits((int) bits & 0xff);
            case FLOAT8_E5M2 -> E5M2.fromBits((int) bits & 0xff);
        };
    }

    private long whole(double value, long least, long greatest) {
        long rounded = (long) value;
        if (rounded != value || rounded < least || rounded > greatest) {
            throw new IllegalArgumentException(this + " holds whole numbers from " + least + " to " + greatest + ", not " + value);
        }
        return rounded;
    }

    private static long bfloat16Bits(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return 0x7fc0L | (bits >>> 16 & 0x8000);
        }
        int roundToEven = 0x7fff + (bits >>> 16 & 1);
        return bits + roundToEven >>> 16 & 0xffffL;
    }

    /** {@return the name in lower case, for instance {@code float32}} */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
