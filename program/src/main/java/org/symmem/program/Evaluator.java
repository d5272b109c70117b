package org.symmem.program;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.ErrorCode;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.Support;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.UnsupportedCapabilityException;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;

/**
 * Runs programs on the ranks of a symmetric memory. Keeps their buffers from program to program.
 *
 * <p>Every rank makes the same calls in the same order, which {@link #prepare} makes sure of. Belongs to one thread; the caller closes
 * it, before the symmetric memory.
 *
 * <pre>{@code
 * try (Evaluator evaluator = Evaluator.on(memory, Lowering.SYMMETRIC); Execution execution = evaluator.prepare(program)) {
 *     execution.input("x").fill(rank);
 *     execution.run(Duration.ofSeconds(10));
 *     double value = execution.output("y").get(0);
 * }
 * }</pre>
 */
public final class Evaluator implements AutoCloseable {
    private final SymmetricMemory memory;
    private final Closers opened;
    private final SymmetricTensor control;
    private final Stream stream;
    private final Communication communication;
    private final BufferPool pool;
    private @Nullable Throwable failure;

    private Evaluator(SymmetricMemory memory, Closers opened, SymmetricTensor control, Stream stream, Communication communication) {
        this.memory = memory;
        this.opened = opened;
        this.control = control;
        this.stream = stream;
        this.pool = opened.add(new BufferPool(memory));
        // Closed before the buffers that it is about.
        this.communication = opened.add(communication);
    }

    /**
     * Makes an evaluator. Collective.
     *
     * @param memory   stays open as long as this
     * @param lowering what communication becomes; the same on all ranks
     * @return the evaluator; the caller closes it
     * @throws org.symmem.RanksDisagreeException on all ranks, if their lowerings differ
     * @throws UnsupportedCapabilityException if the backend has no {@link Capability#STREAM_SIGNALS}
     * @throws SymmetricMemoryException        if the backend has no collectives of its own and they are asked for
     */
    public static Evaluator on(SymmetricMemory memory, Lowering lowering) {
        if (memory.capability(Capability.STREAM_SIGNALS) instanceof Support.No no) {
            throw new UnsupportedCapabilityException(Capability.STREAM_SIGNALS, memory.backend(), no.reason());
        }
        Agreement agreement = memory.agreement("making an evaluator", memory.toString());
        agreement.compare("comparing lowerings", new TreeMap<>(Map.of("lowering", lowering.toString())));
        Closers opened = new Closers();
        try {
            // Its signals are the programs' barriers, and its one element is the line that a run has come to.
            List<SymmetricTensor> control = new ArrayList<>();
            agreement.check("allocating", () -> control.add(opened.add(memory.allocate(Shape.of(1), DataType.INT32))));
            control.getFirst().rendezvous(agreement.timeout());
            Stream stream = opened.add(memory.newStream());
            return new Evaluator(memory, opened, control.getFirst(), stream, communication(memory, lowering));
        } catch (Throwable e) {
            opened.closeBecauseOf(e);
            throw e;
        }
    }

    private static Communication communication(SymmetricMemory memory, Lowering lowering) {
        return switch (lowering) {
            case SYMMETRIC -> new SymmetricCommunication(memory);
            case NATIVE -> new NativeCommunication(memory.nativeCollectives()
                    .orElseThrow(() -> new SymmetricMemoryException(ErrorCode.UNSUPPORTED,
                            "backend " + memory.backend() + " has no collectives of its own: use the lowering to symmetric memory")),
                    memory.group().rank());
        };
    }

    /**
     * Makes a program ready to run: compares it among the ranks, checks it, and allocates what the pool lacks. Collective.
     *
     * @param program the same on all ranks
     * @return the program with its buffers; the caller closes it, which gives them back
     * @throws ProgramException                       on all ranks, if it is wrong; nothing was allocated
     * @throws org.symmem.RanksDisagreeException      on all ranks, if programs or the order of their buffers differ
     * @throws org.symmem.CollectiveFailedException   on all ranks, if allocating failed on any
     * @throws UnsupportedCapabilityException         if the program has views or global memory and the backend has not; names the line
     * @throws IllegalStateException                  if a run has failed before, or this is closed
     */
    public Execution prepare(Program program) {
        requireUsable();
        Agreement agreement = memory.agreement("preparing a program", this.toString());
        ProgramAgreement.on(program, agreement);
        Validator.check(program, memory.group().worldSize());
        requireCapabilities(program.statements());
        BufferPlan plan = BufferPlan.of(program, memory.group().worldSize());
        List<Integer> numbers = pool.take(plan.kinds(), agreement);
        try {
            return new Execution(this, program, plan, numbers);
        } catch (Throwable e) {
            pool.give(numbers);
            throw e;
        }
    }

    private void requireCapabilities(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement.step()) {
                case Step.View view -> require(Capability.CONTIGUOUS_VIEW, statement);
                case Step.AllGatherView view -> require(Capability.CONTIGUOUS_VIEW, statement);
                case Step.Input(String name, TensorType type) when type.memory() == MemoryType.GLOBAL ->
                    require(Capability.GLOBAL_MEMORY, statement);
                case Step.Allocate(String name, TensorType type) when type.memory() == MemoryType.GLOBAL ->
                    require(Capability.GLOBAL_MEMORY, statement);
                case Step.Loop loop -> requireCapabilities(loop.body());
                default -> {
                    // Every backend can do it.
                }
            }
        }
    }

    private void require(Capability capability, Statement statement) {
        if (memory.capability(capability) instanceof Support.No no) {
            throw new UnsupportedCapabilityException(capability, memory.backend(), no.reason() + " (" + statement + ")");
        }
    }

    Duration timeout() {
        return memory.group().timeout();
    }

    SymmetricTensor control() {
        return control;
    }

    Stream stream() {
        return stream;
    }

    Communication communication() {
        return communication;
    }

    BufferPool pool() {
        return pool;
    }

    /** Has all ranks meet. Collective. */
    void meet() {
        requireUsable();
        memory.agreement("meeting between runs", this.toString()).check("meeting", () -> {});
    }

    void failed(Throwable error) {
        failure = error;
    }

    void requireUsable() {
        if (failure != null) {
            throw new IllegalStateException("a run has failed, so ranks may be at different steps: close " + this + " and make another",
                    failure);
        }
    }

    /** Frees all buffers. Local or collective as {@link SymmetricTensor#close} is. Closing twice is fine. */
    @Override
    public void close() {
        opened.close();
    }

    @Override
    public String toString() {
        return "Evaluator[" + memory + "]";
    }
}
