package org.symmem.bench;

import java.util.List;

/**
 * What JMH found of the calls that must be cheap, as it is kept in JSON.
 *
 * @param command what was run
 * @param date    when it began, in UTC
 * @param machine where
 * @param jmh     JMH's version
 * @param calls   one by one
 */
public record CheapCalls(String command, String date, Report.Machine machine, String jmh, List<Call> calls) {
    /**
     * One call.
     *
     * @param name           of the benchmark
     * @param nanos          it takes, on average
     * @param error          of that, with a certainty of 99.9 %
     * @param allocatedBytes on the Java heap
     */
    public record Call(String name, double nanos, double error, double allocatedBytes) {}
}
