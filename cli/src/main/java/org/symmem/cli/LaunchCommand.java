package org.symmem.cli;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.symmem.rendezvous.LocalLauncher;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Starts any command as the ranks of a job. */
@Command(
        name = "launch",
        description = "Start a command as N ranks on this host, with the variables that torchrun sets (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT). "
                + "Each line of output begins with its rank; when one rank fails the others are ended.",
        footerHeading = "%nExample:%n",
        footer = "  symmem launch --ranks 4 -- java -cp app.jar my.Program")
final class LaunchCommand implements Callable<Integer> {
    @Mixin
    private Ranks ranks;

    @Parameters(paramLabel = "COMMAND", arity = "1..*", description = "the command and its arguments, after --")
    private List<String> command;

    @Override
    public Integer call() throws Exception {
        LocalLauncher launcher = new LocalLauncher(ranks.number(), Map.of(), (rank, line, isError) -> (isError ? System.err : System.out).println("[" + rank + "] " + line));
        LocalLauncher.Outcome outcome;
        try {
            outcome = launcher.run(rank -> command);
        } catch (java.io.IOException e) {
            throw new UsageException("the command cannot be started: " + e.getMessage());
        }
        if (outcome.failedRank().isPresent()) {
            System.err.println("symmem: " + outcome.failure() + ", so the others were ended");
        }
        return outcome.exitCode();
    }
}
