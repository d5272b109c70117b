package org.symmem.bench;

/**
 * What one rank measured of one operation with one size.
 *
 * @param operation its name
 * @param bytes     the size; 0 where the operation has none
 * @param calls     in each batch
 * @param nanos     a call, of each batch
 */
public record Measurement(String operation, long bytes, int calls, double[] nanos) {}
