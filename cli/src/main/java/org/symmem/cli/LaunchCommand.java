package org.symmem.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.symmem.rendezvous.LocalLauncher;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Starts any command as the ranks of a job. */
@Command(name = "launch", description = {
    "Start a command as N ranks on this host.",
    "%nEach rank gets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them; the launcher serves the store at that address. "
            + "Each line of output begins with its rank. SIGINT, SIGHUP and SIGUSR1 go to the ranks and what they started. When one rank fails, "
            + "or this command is ended, the ranks are ended too, and the last lines of the one that failed are repeated; if this command is killed with -9, only where the command setpriv (package util-linux) is installed."
}, footerHeading = "%nExamples:%n", footer = {
    "  symmem launch --ranks 4 -- java -cp 'lib/*' com.example.Main",
    "  symmem launch -- sh -c 'echo rank $RANK of $WORLD_SIZE'"
}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {"0:every rank ended with 0",
    "2:an option is wrong, or the command cannot be started", "n:that of the first rank that failed; 128+n if signal n ended it"})
final class LaunchCommand implements Callable<Integer> {
    @Mixin
    private Ranks ranks;

    @Parameters(paramLabel = "COMMAND", arity = "1..*", description = "the command and its arguments, after --")
    private List<String> command;

    @Override
    public Integer call() throws InterruptedException {
        LocalLauncher launcher = new LocalLauncher(ranks.number(), Map.of(),
                (rank, line, isError) -> (isError ? System.err : System.out).println("[" + rank + "] " + line)).ofAnyProgram();
        LocalLauncher.Outcome outcome;
        ForwardedSignals signals = ForwardedSignals.to(launcher);
        try (signals) {
            outcome = launcher.run(rank -> command);
        } catch (IOException e) {
            throw new UsageException("the command cannot be started: " + e.getMessage());
        }
        if (signals.received().isPresent()) {
            throw new FailureException(128 + signals.received().getAsInt(),
                    "ended by signal " + signals.received().getAsInt() + ", which went to the ranks");
        }
        if (outcome.failedRank().isPresent()) {
            throw new FailureException(outcome.exitCode(), outcome.failure() + "; the other ranks were ended" + lastLines(outcome));
        }
        return 0;
    }

    /** What the rank said last stands far above by now, between the lines of the others. */
    private static String lastLines(LocalLauncher.Outcome outcome) {
        if (outcome.lastLines().isEmpty()) {
            return "; it printed nothing";
        }
        String prefix = "[" + outcome.failedRank().getAsInt() + "] ";
        return ". Its last lines:" + outcome.lastLines().stream().map(line -> "\n" + prefix + line).collect(Collectors.joining());
    }
}
