package org.symmem.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.symmem.program.Lowering;
import org.symmem.program.Program;
import org.symmem.program.ProgramException;
import org.symmem.program.ProgramText;
import org.symmem.program.Step;
import org.symmem.program.Validator;
import org.symmem.rendezvous.JavaCommand;

/** A host program on rank processes, and what its outputs hold on each. */
final class ProgramRun {
    private final Path file;
    private final Program program;
    private final Lowering lowering;
    private final int ranks;
    private final Map<Integer, RankMessage.ProgramResult> results = new TreeMap<>();

    private ProgramRun(Path file, Program program, Lowering lowering, int ranks) {
        this.file = file;
        this.program = program;
        this.lowering = lowering;
        this.ranks = ranks;
    }

    /** Reads and checks a program; a mistake is said before any rank is started. */
    static ProgramRun of(Path file, @Nullable String lowering, int ranks) {
        Lowering wanted = Stream.of(Lowering.values())
                .filter(one -> one.toString().equals(lowering == null ? "symmetric" : lowering))
                .findFirst()
                .orElseThrow(() -> new UsageException("--lowering is \"" + lowering + "\"; it is symmetric or native"));
        try {
            Program program = ProgramText.parse(Files.readString(file));
            Validator.check(program, ranks);
            return new ProgramRun(file.toAbsolutePath(), program, wanted, ranks);
        } catch (IOException e) {
            throw new UsageException("the program " + file + " cannot be read: " + e);
        } catch (ProgramException e) {
            throw new UsageException(file + ", " + e.getMessage());
        }
    }

    /** Runs it and prints what the outputs hold. */
    void run(Duration patience) throws IOException {
        List<String> command = JavaCommand.of(RunCommand.RANK_FLAGS, ProgramRank.class, List.of(file.toString(), lowering.name()));
        try (RankProgress progress = RankProgress.ofSteps("running", ranks, ranks)) {
            new RankJob(ranks, patience, progress, (rank, message) -> {
                if (message instanceof RankMessage.ProgramResult result) {
                    synchronized (results) {
                        results.put(rank, result);
                    }
                    progress.ready(rank);
                }
            }).run(command);
        }
        synchronized (results) {
            print();
        }
    }

    private void print() {
        if (results.size() < ranks) {
            throw new FailureException(1,
                    "only ranks " + results.keySet() + " said what they hold; something else writes to their standard output");
        }
        System.out.println(file + ": " + program.statements().size() + " statements, lowered to "
                + (lowering == Lowering.SYMMETRIC ? "symmetric memory" : "the backend's own collectives"));
        System.out.println(Backends.headline(ranks,
                results.values().stream().map(RankMessage.ProgramResult::backend).distinct().collect(Collectors.joining(", "))));
        Table table = new Table("lrllll", "output", "rank", "host", "device", "type", "SHA-256");
        List<Step.Output> outputs = program.outputs();
        for (int i = 0; i < outputs.size(); i++) {
            for (Map.Entry<Integer, RankMessage.ProgramResult> rank : results.entrySet()) {
                RankMessage.Held held = rank.getValue().outputs().get(i);
                table.row(held.name(), rank.getKey().toString(), rank.getValue().host(), rank.getValue().device(), held.type(),
                        held.sha256());
            }
        }
        table.print(System.out);
        for (int i = 0; i < outputs.size(); i++) {
            int at = i;
            long contents = results.values().stream().map(result -> result.outputs().get(at).sha256()).distinct().count();
            System.out.println(outputs.get(i).name() + ": "
                    + (contents == 1 ? "all ranks hold the same" : "ranks hold " + contents + " different contents"));
        }
    }
}
