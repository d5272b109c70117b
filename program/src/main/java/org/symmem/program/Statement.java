package org.symmem.program;

import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A step and where it stands. Two statements are equal when they say the same, wherever they stand. Immutable. */
public final class Statement {
    private final Step step;
    private final int line;
    private final String text;

    /**
     * @param step what it says
     * @param line where it stands, from 1
     * @param text the line as it was written
     */
    Statement(Step step, int line, String text) {
        this.step = step;
        this.line = line;
        this.text = text;
    }

    /** {@return what it says} */
    public Step step() {
        return step;
    }

    /** {@return the line it stands on, from 1} */
    public int line() {
        return line;
    }

    /** {@return the column, from 1, at which a word stands in the line; that of the first word if it does not} */
    int columnOf(String word) {
        Matcher found = Pattern.compile("\\b" + Pattern.quote(word) + "\\b").matcher(text);
        return 1 + (found.find() ? found.start() : text.length() - text.stripLeading().length());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Statement statement && step.equals(statement.step);
    }

    @Override
    public int hashCode() {
        return Objects.hash(step);
    }

    /** {@return for instance {@code line 7: wait y}} */
    @Override
    public String toString() {
        return "line " + line + ": " + step;
    }
}
