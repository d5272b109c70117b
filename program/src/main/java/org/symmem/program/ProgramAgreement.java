package org.symmem.program;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.symmem.RanksDisagreeException;
import org.symmem.spi.Agreement;

/** Makes sure that all ranks run one program. */
final class ProgramAgreement {
    private ProgramAgreement() {}

    /**
     * Collective.
     *
     * @throws RanksDisagreeException on all ranks, with the first statement that differs and who has which
     */
    static void on(Program program, Agreement agreement) {
        byte[] text = ProgramText.print(program).getBytes(StandardCharsets.UTF_8);
        List<byte[]> digests = agreement.step("comparing programs", () -> sha256(text));
        if (digests.stream().allMatch(digest -> Arrays.equals(digest, digests.getFirst()))) {
            return;
        }
        List<List<String>> texts = agreement.step("finding the difference between programs", () -> text)
                .stream()
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8).lines().toList())
                .toList();
        int line = 0;
        while (statements(texts, line).size() == 1) {
            line++;
        }
        String difference = statements(texts, line).entrySet()
                .stream()
                .map(one -> one.getKey() + " on ranks " + one.getValue())
                .collect(Collectors.joining(", "));
        throw new RanksDisagreeException("ranks disagree in " + agreement.operation() + ": statement " + (line + 1) + " is " + difference
                + ". Every rank must run the same program");
    }

    private static Map<String, List<Integer>> statements(List<List<String>> texts, int line) {
        Map<String, List<Integer>> ranks = new LinkedHashMap<>();
        for (int rank = 0; rank < texts.size(); rank++) {
            List<String> text = texts.get(rank);
            ranks.computeIfAbsent(line < text.size() ? "\"" + text.get(line).strip() + "\"" : "the end", one -> new ArrayList<>())
                    .add(rank);
        }
        return ranks;
    }

    private static byte[] sha256(byte[] text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
