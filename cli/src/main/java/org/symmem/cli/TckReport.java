package org.symmem.cli;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How one backend did, as it is written for machines.
 *
 * @param backend  its name
 * @param version  what it found to work with, as rank 0 says; "unknown" if it never opened
 * @param device   rank 0's device
 * @param host     rank 0's host
 * @param ranks    how many processes
 * @param emulated whether its native library is an emulation, so that nothing here is about hardware
 * @param platform system and Java
 * @param finished when, in local time
 * @param rules    in the order of the specification
 */
record TckReport(String backend, String version, String device, String host, int ranks, boolean emulated, String platform,
        String finished, List<Line> rules) {
    /**
     * How one rule went.
     *
     * @param rule     its number
     * @param title    the rule in a few words
     * @param kind     required, conditional, stochastic or untested
     * @param verdict  how it went
     * @param millis   how long it took
     * @param why      of a failure what each rank said, of a skipped rule the reason, of a passed one what was run
     * @param evidence files of each rank's threads, descriptors and output, as the report's folder names them
     */
    record Line(String rule, String title, String kind, TckVerdict verdict, long millis, String why, List<String> evidence) {
        /** {@return of a failure what each rank complains of, without the traces; else the same as {@link #why}} */
        String briefly() {
            return verdict != TckVerdict.FAILED
                    ? why
                    : Stream.concat(why.lines().limit(1), why.lines().skip(1).filter(line -> line.matches("rank \\d+\\b.*")))
                            .collect(Collectors.joining("\n"));
        }

        /** {@return the verdict in a word, with the time if the rule was run} */
        String verdictInWords() {
            return verdict.word() + (verdict == TckVerdict.PASSED || verdict == TckVerdict.FAILED ? ", " + millis + " ms" : "");
        }
    }

    /** {@return whether a backend says of itself that it is emulated} */
    static boolean saysEmulated(String version, String device) {
        return (version + " " + device).toLowerCase(Locale.ROOT).contains("emulated");
    }

    long count(TckVerdict verdict) {
        return rules.stream().filter(line -> line.verdict() == verdict).count();
    }

    /** {@return whether no rule failed, and at least one passed} */
    boolean good() {
        return count(TckVerdict.FAILED) == 0 && count(TckVerdict.PASSED) > 0;
    }

    /** {@return the counts in words} */
    String summary() {
        return count(TckVerdict.PASSED) + " passed, " + count(TckVerdict.FAILED) + " failed, " + count(TckVerdict.NOT_APPLICABLE)
                + " not applicable, " + count(TckVerdict.UNTESTED) + " untested";
    }

    /** {@return what results are worth} */
    String kindOfMachine() {
        return emulated ? "emulated: says nothing about hardware" : "real";
    }

    /** {@return the rules of some reports, each once, in the order of the specification} */
    static Set<String> rulesOf(List<TckReport> reports) {
        return reports.stream()
                .flatMap(report -> report.rules().stream())
                .map(Line::rule)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    Optional<Line> line(String rule) {
        return rules.stream().filter(line -> line.rule().equals(rule)).findFirst();
    }
}
