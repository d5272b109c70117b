package org.symmem.program;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Programs as text, one statement a line; {@code #} begins a comment. Reading what was printed gives an equal program. The language
 * is in {@code docs/programs.md}.
 */
public final class ProgramText {
    private static final String INDENT = "    ";
    /** Each level is checked twice as often as the one around it. */
    private static final int DEEPEST_LOOP = 8;

    private ProgramText() {}

    /** {@return the program as text} */
    public static String print(Program program) {
        StringBuilder text = new StringBuilder();
        print(program.statements(), "", text);
        return text.toString();
    }

    private static void print(List<Statement> statements, String indent, StringBuilder text) {
        for (Statement statement : statements) {
            text.append(indent).append(statement.step()).append('\n');
            if (statement.step() instanceof Step.Loop loop) {
                print(loop.body(), indent + INDENT, text);
                text.append(indent).append("end\n");
            }
        }
    }

    /**
     * Reads a program; does not check what its statements mean together, which {@link Validator#check} does.
     *
     * @param text its lines
     * @return the program
     * @throws ProgramException at the first place that is no statement of the language
     */
    public static Program parse(String text) {
        Deque<OpenLoop> loops = new ArrayDeque<>();
        List<Statement> program = new ArrayList<>();
        List<Statement> block = program;
        int number = 0;
        for (String line : text.split("\n", -1)) {
            ProgramLine words = new ProgramLine(++number, line);
            if (words.isEmpty()) {
                continue;
            }
            if (words.accept("end")) {
                words.end();
                if (loops.isEmpty()) {
                    throw new ProgramException(number, 1 + line.indexOf("end"), "\"end\" without a loop");
                }
                OpenLoop done = loops.pop();
                done.outer().add(new Statement(new Step.Loop(done.times(), block), done.line(), done.text()));
                block = done.outer();
            } else if (words.accept("loop")) {
                if (loops.size() == DEEPEST_LOOP) {
                    throw new ProgramException(number, 1 + line.indexOf("loop"),
                            "loops stand at most " + DEEPEST_LOOP + " deep in each other");
                }
                loops.push(new OpenLoop(words.number(1, "a number of times"), number, line, block));
                words.end();
                block = new ArrayList<>();
            } else {
                block.add(new Statement(words.step(), number, line));
                words.end();
            }
        }
        if (!loops.isEmpty()) {
            OpenLoop open = loops.peek();
            throw new ProgramException(open.line(), 1 + open.text().indexOf("loop"), "the loop has no \"end\"");
        }
        return new Program(program);
    }

    /** A loop whose end was not seen yet, and the block that it stands in. */
    private record OpenLoop(int times, int line, String text, List<Statement> outer) {}
}
