package org.symmem.spi;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.symmem.RanksDisagreeException;
import java.util.Map;
import java.util.stream.Collectors;

/** Compares properties among ranks, so that a disagreement is the same error on all. */
final class Comparison {
    private Comparison() {}

    /**
     * Collective.
     *
     * @throws RanksDisagreeException on all ranks, naming each property that differs and who has which value
     */
    static void of(Agreement agreement, String step, Map<String, String> own) {
        List<byte[]> all = agreement.step(step, () -> Wire.write(out -> {
            for (String value : own.values()) {
                out.writeUTF(value);
            }
        }));
        Map<String, Map<String, List<Integer>>> ranksByValue = new LinkedHashMap<>();
        for (int rank = 0; rank < all.size(); rank++) {
            int from = rank;
            Wire.read(all.get(rank), in -> {
                for (String property : own.keySet()) {
                    ranksByValue.computeIfAbsent(property, name -> new LinkedHashMap<>())
                            .computeIfAbsent(in.readUTF(), value -> new ArrayList<>())
                            .add(from);
                }
                return ranksByValue;
            });
        }
        String differences = ranksByValue.entrySet()
                .stream()
                .filter(property -> property.getValue().size() > 1)
                .map(property -> property.getKey() + ": " + property.getValue()
                        .entrySet()
                        .stream()
                        .map(value -> value.getKey() + " on " + ranks(value.getValue()))
                        .collect(Collectors.joining(", ")))
                .collect(Collectors.joining("; "));
        if (!differences.isEmpty()) {
            throw new RanksDisagreeException("ranks disagree in " + agreement.operation() + ": " + differences
                    + ". Every rank must make the same calls with the same arguments in the same order");
        }
    }

    private static String ranks(List<Integer> ranks) {
        return (ranks.size() == 1 ? "rank " : "ranks ") + ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
