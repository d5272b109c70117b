package org.symmem.cli;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.Set;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Entry point of {@code symmem}. */
@Command(name = "symmem", mixinStandardHelpOptions = true, versionProvider = Version.class, scope = ScopeType.INHERIT, synopsisSubcommandLabel = "COMMAND", usageHelpAutoWidth = true, sortOptions = false, description = "Symmetric memory for the JVM: processes that read, write and signal each other's memory by plain address.", subcommands = {
    RunCommand.class, InfoCommand.class, TckCommand.class, BenchCommand.class, LaunchCommand.class, BundleCommand.class,
    ShareClassesCommand.class})
public final class Main {
    /** The property that asks for stack traces; ranks get it too. */
    static final String DEBUG = "symmem.debug";
    private static final SequencedMap<String, String> EXIT_CODES = new LinkedHashMap<>();

    static {
        EXIT_CODES.put("0", "done, and everything verified");
        EXIT_CODES.put("1", "failed");
        EXIT_CODES.put("2", "wrong usage");
    }

    private static final Set<ErrorCode> WRONG_USAGE = Set.of(ErrorCode.SETTING, ErrorCode.BACKEND_UNKNOWN);

    @Option(names = {"-v", "--verbose"}, scope = ScopeType.INHERIT, description = "say what is chosen and why")
    private void verbose(boolean on) {
        if (on) {
            System.setProperty(QuietLogging.LEVEL, "INFO");
        }
    }

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "print the stack trace of an error, and where leaked memory was allocated")
    private void debug(boolean on) {
        if (on) {
            System.setProperty(DEBUG, "true");
        }
    }

    private Main() {}

    /** @param arguments see {@code symmem --help} */
    public static void main(String[] arguments) {
        System.exit(execute(arguments));
    }

    /** {@return the exit code} */
    static int execute(String... arguments) {
        CommandLine symmem = new CommandLine(new Main())
                .setExecutionExceptionHandler((error, command, result) -> explain(error, command))
                .setParameterExceptionHandler((error, wrong) -> explain(error, error.getCommandLine()));
        // Here and not in the annotation, which subcommands inherit.
        symmem.getCommandSpec()
                .usageMessage()
                .footerHeading("%nExamples:%n")
                .footer("  symmem run                             2 ranks share a file and verify it",
                        "  symmem info                            what this machine has",
                        "  symmem tck --backend host --ranks 3    judge a backend by the rules",
                        "  symmem bench                           measure what it costs",
                        "  symmem launch --ranks 4 -- COMMAND     start a program of yours",
                        "  symmem bundle DIR                      a folder for hosts without Java",
                        "%nsymmem COMMAND --help says more about each.")
                .exitCodeListHeading("%nExit codes:%n")
                .exitCodeList(EXIT_CODES);
        if (arguments.length == 0) {
            symmem.usage(System.err);
            return ExitCode.USAGE;
        }
        return symmem.execute(arguments);
    }

    private static int explain(Exception error, CommandLine command) {
        boolean wrongUsage = error instanceof UsageException || error instanceof CommandLine.ParameterException
                || error instanceof SymmetricMemoryException e && WRONG_USAGE.contains(e.code());
        boolean explained = wrongUsage || error instanceof FailureException || error instanceof SymmetricMemoryException;
        String name = command.getCommandSpec().qualifiedName();
        System.err.println(name + ": " + (explained ? error.getMessage() : error.toString()));
        if (error instanceof CommandLine.ParameterException) {
            System.err.println("Try: " + name + " --help");
        }
        if (Boolean.getBoolean(DEBUG)) {
            error.printStackTrace();
        }
        return wrongUsage ? ExitCode.USAGE : error instanceof FailureException failure ? failure.exitCode() : ExitCode.SOFTWARE;
    }
}
