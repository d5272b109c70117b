package org.symmem;

/**
 * An 8-bit floating-point format (OCP 8-bit Floating Point Specification, revision 1.0): sign, exponent, mantissa.
 *
 * <p>With infinities (E5M2) the highest exponent is for infinity and NaN as in IEEE 754, and overflow gives infinity. Without
 * (E4M3) only the highest code is NaN, and overflow gives NaN.
 */
record MiniFloat(int exponentBits, int mantissaBits, boolean infinities) {
    private int bias() {
        return (1 << exponentBits - 1) - 1;
    }

    private int greatestCode() {
        return infinities ? (1 << exponentBits) - 1 << mantissaBits : 0x7f;
    }

    double fromBits(int bits) {
        int code = bits & 0x7f;
        double magnitude;
        if (code >= greatestCode()) {
            magnitude = infinities && code == greatestCode() ? Double.POSITIVE_INFINITY : Double.NaN;
        } else {
            int exponent = code >>> mantissaBits;
            int mantissa = code & (1 << mantissaBits) - 1;
            magnitude = exponent == 0
                    ? Math.scalb((double) mantissa, 1 - bias() - mantissaBits)
                    : Math.scalb((double) ((1 << mantissaBits) + mantissa), exponent - bias() - mantissaBits);
        }
        return (bits & 0x80) == 0 ? magnitude : -magnitude;
    }

    long toBits(double value) {
        long sign = Double.doubleToRawLongBits(value) >>> 63 << 7;
        double magnitude = Math.abs(value);
        if (Double.isNaN(magnitude)) {
            return sign | 0x7f;
        }
        if (Double.isInfinite(magnitude)) {
            return sign | greatestCode();
        }
        int exponent = Math.max(Math.getExponent(magnitude), 1 - bias());
        // A whole number of the last place; rint rounds ties to even. A carry into the exponent is right as it comes, since the
        // codes of a sign are in the order of their values.
        long units = (long) Math.rint(Math.scalb(magnitude, mantissaBits - exponent));
        long code = ((long) (exponent + bias() - 1) << mantissaBits) + units;
        return sign | Math.min(code, greatestCode());
    }
}
