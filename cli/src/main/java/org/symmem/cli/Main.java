package org.symmem.cli;

import org.symmem.SymmetricMemoryException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Entry point of {@code symmem}. */
@Command(
        name = "symmem",
        mixinStandardHelpOptions = true,
        version = "symmem 0.1.0-SNAPSHOT",
        description = "Symmetric memory for the JVM: ranks that read, write and signal each other's memory by plain address.",
        subcommands = {RunCommand.class, InfoCommand.class, TckCommand.class, LaunchCommand.class},
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done, and everything verified", "1:failed", "2:wrong usage", "128+n:a rank was ended by signal n"},
        footerHeading = "%nExamples:%n",
        footer = {
            "  symmem run                              two ranks share the JDK's largest file and verify it",
            "  symmem run --ranks 4 --input big.bin    four ranks share a file of yours",
            "  symmem info                             which backends this machine has",
            "  symmem tck --backend host --ranks 3     judge a backend by the rules"
        })
public final class Main implements Runnable {
    @Spec
    private CommandSpec spec;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "print the stack trace of an error")
    private boolean debug;

    @Option(names = {"-v", "--verbose"}, scope = ScopeType.INHERIT, description = "print what is chosen and why")
    private void verbose(boolean on) {
        if (on) {
            System.setProperty("symmem.log", "INFO");
        }
    }

    private Main() {}

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    /** @param arguments see {@code symmem --help} */
    public static void main(String[] arguments) {
        Main main = new Main();
        int code = new CommandLine(main)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((error, command, result) -> main.explain(error))
                .execute(arguments);
        System.exit(code);
    }

    private int explain(Exception error) {
        System.err.println("symmem: " + (error instanceof SymmetricMemoryException || error instanceof UsageException ? error.getMessage() : error.toString()));
        if (debug) {
            error.printStackTrace();
        }
        return error instanceof UsageException ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
    }
}
