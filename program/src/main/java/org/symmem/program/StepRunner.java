package org.symmem.program;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;

/** Puts the steps of one run on the evaluator's stream. */
final class StepRunner {
    private static final int CHANNEL = 0;

    private final Evaluator evaluator;
    private final Map<Statement, Buffer> buffers;
    private final Map<Statement, Communication.Round> rounds;
    private final Duration timeout;
    private final Map<String, TensorView> views = new HashMap<>();
    private final Map<String, SymmetricTensor> symmetric = new HashMap<>();
    private final Map<String, Communication.Round> posted = new HashMap<>();
    private final Map<String, TensorView> outputs = new HashMap<>();

    StepRunner(Evaluator evaluator, Map<Statement, Buffer> buffers, Map<Statement, Communication.Round> rounds, Duration timeout) {
        this.evaluator = evaluator;
        this.buffers = buffers;
        this.rounds = rounds;
        this.timeout = timeout;
    }

    /** No rank begins a run while another still reads what the run before left. */
    void begin() {
        mark(0);
        barrier();
    }

    void run(List<Statement> statements) {
        for (Statement statement : statements) {
            run(statement);
        }
    }

    Map<String, TensorView> outputs() {
        return outputs;
    }

    private void run(Statement statement) {
        switch (statement.step()) {
            case Step.Input(String name, TensorType type) -> bind(statement, name);
            case Step.Allocate(String name, TensorType type) -> bind(statement, name);
            case Step.Deallocate(String name) -> views.remove(name);
            case Step.Output(String name, MemoryType memory) -> outputs.put(name, view(name));
            case Step.Copy(String source, String target) -> {
                mark(statement.line());
                view(target).copyFrom(view(source), evaluator.stream());
            }
            case Step.Broadcast(String source, int root, String target) -> post(statement, source, target);
            case Step.AllGather(String source, String target) -> post(statement, source, target);
            case Step.AllGatherView(String source, String view) -> {
                mark(statement.line());
                barrier();
                views.put(view, Objects.requireNonNull(symmetric.get(source)).contiguousView());
            }
            case Step.View(String view, String source) ->
                views.put(view, Objects.requireNonNull(symmetric.get(source)).contiguousView());
            case Step.Wait(String target) -> {
                mark(statement.line());
                Objects.requireNonNull(posted.remove(target)).await(evaluator.stream(), timeout);
            }
            case Step.Barrier() -> {
                mark(statement.line());
                barrier();
            }
            case Step.Loop(int times, List<Statement> body) -> {
                for (int time = 0; time < times; time++) {
                    run(body);
                }
            }
        }
    }

    private void bind(Statement statement, String name) {
        Buffer buffer = Objects.requireNonNull(buffers.get(statement));
        views.put(name, buffer.view());
        buffer.symmetric().ifPresent(tensor -> symmetric.put(name, tensor));
    }

    private void post(Statement statement, String source, String target) {
        mark(statement.line());
        Communication.Round round = Objects.requireNonNull(rounds.get(statement));
        round.post(view(source), evaluator.stream());
        posted.put(target, round);
    }

    /** Nothing after a failed operation is run, so the last mark is the step that failed. */
    private void mark(int line) {
        evaluator.control().local().fill(line, evaluator.stream());
    }

    private void barrier() {
        evaluator.control().signals().barrier(CHANNEL, evaluator.stream(), timeout);
    }

    private TensorView view(String name) {
        return Objects.requireNonNull(views.get(name));
    }
}
