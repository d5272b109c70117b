package org.symmem.cli;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The command under test: here for quick answers, or in a process of its own. */
final class Symmem {
    /** How it ended and what it printed. */
    record Result(int exitCode, String out, String err) {}

    private Symmem() {}

    static Result here(String... arguments) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
            int code = Main.execute(arguments);
            return new Result(code, printed.toString(StandardCharsets.UTF_8), complained.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    /** A process, its output in files of a folder. */
    record Running(Process process, Path out, Path err) {
        Result end() throws IOException, InterruptedException {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("symmem did not end; it printed " + Files.readString(out) + Files.readString(err));
            }
            return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
        }

        /** The whole command line: {@link ProcessHandle.Info} has the first page of it, which a class path may fill. */
        private static boolean runs(ProcessHandle process, String program) {
            try {
                List<String> words = List.of(Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline")).split("\0"));
                // Before it is its program it has the launcher's command line, in which a program's name is, but no rank's class.
                return words.getFirst().endsWith(program) || program.startsWith("org.symmem.") && words.contains(program);
            } catch (IOException e) {
                // It has ended.
                return false;
            }
        }

        /** {@return the ranks that it has started, as soon as there are so many and each has become its program} */
        List<ProcessHandle> ranks(int number, String program) throws InterruptedException, IOException {
            long deadline = System.nanoTime() + 30_000_000_000L;
            while (true) {
                List<ProcessHandle> ranks = process.descendants()
                        .filter(rank -> runs(rank, program))
                        .toList();
                if (ranks.size() == number) {
                    return ranks;
                }
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new AssertionError("the ranks did not start: " + Files.readString(err));
                }
                Thread.sleep(5);
            }
        }
    }

    static Running start(Path folder, String... arguments) throws IOException {
        return start(folder, Map.of(), arguments);
    }

    static Running start(Path folder, Map<String, String> variables, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Dsymmem.home=" + System.getProperty("symmem.home"), "-cp",
                System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of(arguments));
        File out = Files.createTempFile(folder, "out", ".txt").toFile();
        File err = Files.createTempFile(folder, "err", ".txt").toFile();
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(out).redirectError(err);
        builder.environment().putAll(variables);
        return new Running(builder.start(), out.toPath(), err.toPath());
    }
}
