package org.symmem.program;

import java.time.Duration;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.symmem.DeadlineException;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/**
 * A program with its buffers, to be run as often as wanted. Got from {@link Evaluator#prepare}; the caller closes it, before the
 * evaluator. Belongs to the evaluator's thread.
 */
public final class Execution implements AutoCloseable {
    /** How much longer waits on the stream have than the run, which first looks where it stands. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private final Evaluator evaluator;
    private final Program program;
    private final List<Integer> numbers;
    private final Map<Statement, Buffer> buffers = new IdentityHashMap<>();
    private final Map<Statement, Communication.Round> rounds = new IdentityHashMap<>();
    private final Map<Integer, Statement> byLine = new HashMap<>();
    private final Map<String, TensorView> inputs = new HashMap<>();
    private Map<String, TensorView> outputs = Map.of();
    private boolean closed;

    Execution(Evaluator evaluator, Program program, BufferPlan plan, List<Integer> numbers) {
        this.evaluator = evaluator;
        this.program = program;
        this.numbers = numbers;
        bind(program.statements(), plan, new HashMap<>());
    }

    private void bind(List<Statement> statements, BufferPlan plan, Map<String, Buffer> byName) {
        for (Statement statement : statements) {
            byLine.put(statement.line(), statement);
            switch (statement.step()) {
                case Step.Input(String name, TensorType type) ->
                    inputs.put(name, take(statement, name, plan, byName).view());
                case Step.Allocate(String name, TensorType type) -> take(statement, name, plan, byName);
                case Step.Broadcast(String source, int root, String target) -> rounds.put(statement,
                        evaluator.communication().broadcast(symmetric(byName, target), root));
                case Step.AllGather(String source, String target) -> rounds.put(statement,
                        evaluator.communication().allGather(symmetric(byName, target)));
                case Step.Loop loop -> bind(loop.body(), plan, byName);
                default -> {
                    // It has neither memory nor communication of its own.
                }
            }
        }
    }

    private Buffer take(Statement statement, String name, BufferPlan plan, Map<String, Buffer> byName) {
        Buffer buffer = evaluator.pool().get(numbers.get(plan.numberOf(statement)));
        buffers.put(statement, buffer);
        byName.put(name, buffer);
        return buffer;
    }

    private static SymmetricTensor symmetric(Map<String, Buffer> byName, String name) {
        return byName.get(name).symmetric().orElseThrow();
    }

    /**
     * An input, to be filled before a run; it keeps what it holds from run to run. Local. Where the program shows it through a view, {@link #meet}
     * comes before it is filled again: peers may be looking at it.
     *
     * @throws IllegalArgumentException if the program has no such input
     * @throws IllegalStateException    if this is closed
     */
    public TensorView input(String name) {
        return of(inputs, name, "input");
    }

    /**
     * An output, as the last run left it; a view shows what peers have now. Local.
     *
     * @throws IllegalArgumentException if the program has no such output, or was not run
     * @throws IllegalStateException    if this is closed
     */
    public TensorView output(String name) {
        return of(outputs, name, "output");
    }

    private TensorView of(Map<String, TensorView> views, String name, String what) {
        requireOpen();
        TensorView view = views.get(name);
        if (view == null) {
            throw new IllegalArgumentException("the program has no " + what + " " + name + (what.equals("output") ? ", or was not run" : "")
                    + "; there are " + views.keySet());
        }
        return view;
    }

    /** Has all ranks meet, within the group's timeout: what they did with inputs and outputs before is done after it. Collective. */
    public void meet() {
        requireOpen();
        evaluator.meet();
    }

    /**
     * Runs the program and blocks until it is done. Collective.
     *
     * @param timeout for the whole run; no more than nine tenths of the group's, by which waits inside of a step end
     * @throws DeadlineException        if a rank does not come; names the step and its line. The evaluator cannot be used any more
     * @throws SymmetricMemoryException if a step fails; names it too
     * @throws IllegalStateException    if an earlier run has failed, or this is closed
     */
    public void run(Duration timeout) {
        requireOpen();
        evaluator.requireUsable();
        Duration most = evaluator.timeout().multipliedBy(9).dividedBy(10);
        Duration patience = timeout.compareTo(most) < 0 ? timeout : most;
        long start = System.nanoTime();
        try {
            StepRunner runner = new StepRunner(evaluator, buffers, rounds, patience.plus(GRACE));
            runner.begin();
            runner.run(program.statements());
            finish(patience.minusNanos(System.nanoTime() - start));
            outputs = runner.outputs();
        } catch (RuntimeException e) {
            evaluator.failed(e);
            throw e;
        }
    }

    private void finish(Duration left) {
        try {
            evaluator.stream().synchronize(left.isNegative() ? Duration.ZERO : left);
        } catch (DeadlineException e) {
            // Asked before the waits on the stream give up: a device goes on to later steps then.
            String step = stepOfRun();
            throw named(step, reasonOf(e));
        } catch (SymmetricMemoryException e) {
            throw named(stepOfRun(), e);
        }
    }

    /** {@return what the waits on the stream say when they give up, which names the ranks; else the given} */
    private SymmetricMemoryException reasonOf(DeadlineException late) {
        try {
            evaluator.stream().synchronize(GRACE.multipliedBy(2));
            return late;
        } catch (SymmetricMemoryException e) {
            return e;
        }
    }

    private String stepOfRun() {
        Statement at = byLine.get((int) evaluator.control().local().get(0));
        return at == null ? "waiting for all ranks to begin the run" : at.toString();
    }

    private static SymmetricMemoryException named(String step, SymmetricMemoryException error) {
        Throwable cause = error;
        while (cause != null && !(cause instanceof DeadlineException)) {
            cause = cause.getCause();
        }
        if (cause instanceof DeadlineException late) {
            DeadlineException named = new DeadlineException(late.code(), step + ": " + late.getMessage(), late.missingRanks());
            named.addSuppressed(error);
            return named;
        }
        return new SymmetricMemoryException(error.code(), step + ": " + error.getMessage(), error);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed: the execution of a program of " + program.statements().size() + " statements");
        }
    }

    /** Gives the buffers back to the evaluator. Local; closing twice is fine. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            evaluator.pool().give(numbers);
        }
    }
}
