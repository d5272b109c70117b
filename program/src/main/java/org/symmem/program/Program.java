package org.symmem.program;

import java.util.List;
import java.util.Objects;

/**
 * What each rank's host does: inputs, steps, outputs. The same on all ranks. A value: equal when it says the same. Made by
 * {@link ProgramBuilder} or {@link ProgramText#parse}; nothing is checked before {@link Validator#check}, which an evaluator calls.
 *
 * @param statements in order
 */
public record Program(List<Statement> statements) {
    /** Copies the statements. */
    public Program {
        statements = List.copyOf(statements);
    }

    /** {@return the tensors that the caller fills, in order} */
    public List<Step.Input> inputs() {
        return of(Step.Input.class);
    }

    /** {@return the tensors that the caller reads, in order} */
    public List<Step.Output> outputs() {
        return of(Step.Output.class);
    }

    private <T extends Step> List<T> of(Class<T> kind) {
        return statements.stream().map(Statement::step).filter(kind::isInstance).map(kind::cast).map(Objects::requireNonNull).toList();
    }

    /** {@return the program's text} */
    @Override
    public String toString() {
        return ProgramText.print(this);
    }
}
