package org.symmem.program;

import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/** A program breaks a rule of its language. Nothing was allocated. */
public final class ProgramException extends SymmetricMemoryException {
    private final int line;
    private final int column;

    ProgramException(int line, int column, String reason) {
        super(ErrorCode.PROGRAM, "line " + line + ", column " + column + ": " + reason);
        this.line = line;
        this.column = column;
    }

    /** {@return the line of the text, from 1; for a program that was built, of the text that it prints as} */
    public int line() {
        return line;
    }

    /** {@return the column in that line, from 1} */
    public int column() {
        return column;
    }
}
