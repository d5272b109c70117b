package org.symmem.program;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Builds a program step by step. Inputs and outputs keep the memory type of their tensors. Not thread-safe; what it builds is checked
 * when it is run.
 *
 * <pre>{@code
 * Program program = new ProgramBuilder()
 *         .addInput("x", TensorType.symmetric(DataType.FLOAT32, 4))
 *         .allGatherView("x", "all")
 *         .addOutput("all")
 *         .build();
 * }</pre>
 */
public final class ProgramBuilder {
    private final List<Step> steps = new ArrayList<>();
    private final List<String> outputs = new ArrayList<>();
    private final Map<String, TensorType> types;

    /** What may be done where a value lies in other memory than the output that it replaces. */
    public enum Conversion {
        /** Nothing: it is refused. */
        NONE,
        /** The value is copied to a new tensor in the output's memory. */
        COPY
    }

    /** Begins a program without steps. */
    public ProgramBuilder() {
        this(new HashMap<>());
    }

    private ProgramBuilder(Map<String, TensorType> types) {
        this.types = types;
    }

    /** Adds a tensor that the caller fills before a run. */
    public ProgramBuilder addInput(String name, TensorType type) {
        return define(name, type, new Step.Input(name, type));
    }

    /** Makes a tensor. */
    public ProgramBuilder allocate(String name, TensorType type) {
        return define(name, type, new Step.Allocate(name, type));
    }

    /** Ends a tensor that was allocated. */
    public ProgramBuilder deallocate(String name) {
        return add(new Step.Deallocate(name));
    }

    /** Copies a tensor to another. */
    public ProgramBuilder copy(String source, String target) {
        return add(new Step.Copy(source, target));
    }

    /** Begins to copy the root's source to every rank's target. */
    public ProgramBuilder broadcast(String source, int root, String target) {
        return add(new Step.Broadcast(source, root, target));
    }

    /** Begins to copy every rank's source to every rank's target. */
    public ProgramBuilder allGather(String source, String target) {
        return add(new Step.AllGather(source, target));
    }

    /** Has all ranks meet, and shows their sources side by side without a copy. */
    public ProgramBuilder allGatherView(String source, String view) {
        return define(view, ofAllRanks(source), new Step.AllGatherView(source, view));
    }

    /** Shows all ranks' buffers of a symmetric tensor as one. */
    public ProgramBuilder view(String view, String source) {
        return define(view, ofAllRanks(source), new Step.View(view, source));
    }

    /** Has later steps wait until what was begun into a target has come: the step {@code wait}. */
    public ProgramBuilder await(String target) {
        return add(new Step.Wait(target));
    }

    /** Has later steps of every rank wait for all earlier steps of all ranks. */
    public ProgramBuilder barrier() {
        return add(new Step.Barrier());
    }

    /**
     * Does a body several times.
     *
     * @param body adds steps; no outputs
     */
    public ProgramBuilder loop(int times, Consumer<ProgramBuilder> body) {
        ProgramBuilder inner = new ProgramBuilder(types);
        body.accept(inner);
        return add(new Step.Loop(times, unplaced(inner.steps)));
    }

    /**
     * Adds a tensor that the caller reads after a run. The output has the memory type of the tensor.
     *
     * @throws IllegalArgumentException if there is no such tensor
     */
    public ProgramBuilder addOutput(String name) {
        typeOf(name);
        outputs.add(name);
        return this;
    }

    /**
     * Has another tensor be the output.
     *
     * @throws IllegalArgumentException if there is no such output or tensor, or their memory types differ
     */
    public ProgramBuilder replaceOutput(String output, String value) {
        return replaceOutput(output, value, Conversion.NONE);
    }

    /**
     * Has another tensor be the output. The output stays in the memory that it was in.
     *
     * @param conversion what to do where the value lies in other memory
     * @throws IllegalArgumentException if there is no such output or tensor, or their memory types differ and no conversion is wanted
     */
    public ProgramBuilder replaceOutput(String output, String value, Conversion conversion) {
        int at = outputs.indexOf(output);
        if (at < 0) {
            throw new IllegalArgumentException("there is no output " + output + "; there are " + outputs);
        }
        MemoryType wanted = typeOf(output).memory();
        TensorType type = typeOf(value);
        if (type.memory() == wanted) {
            outputs.set(at, value);
        } else if (conversion == Conversion.COPY) {
            String copy = value + "_" + wanted;
            allocate(copy, type.in(wanted)).copy(value, copy);
            outputs.set(at, copy);
        } else {
            throw new IllegalArgumentException("output " + output + " is in " + wanted + " memory and " + value + " in " + type.memory()
                    + ": one cannot replace the other unless it is copied (Conversion.COPY)");
        }
        return this;
    }

    /** {@return the program so far; its lines are those of the text that it prints as} */
    public Program build() {
        List<Step> all = new ArrayList<>(steps);
        for (String output : outputs) {
            all.add(new Step.Output(output, typeOf(output).memory()));
        }
        return ProgramText.parse(ProgramText.print(new Program(unplaced(all))));
    }

    private static List<Statement> unplaced(List<Step> steps) {
        return steps.stream().map(step -> new Statement(step, 0, "")).toList();
    }

    private ProgramBuilder define(String name, TensorType type, Step step) {
        if (!ProgramLine.NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("\"" + name + "\" is no name: letters, digits and _, not a digit first");
        }
        types.put(name, type);
        return add(step);
    }

    private ProgramBuilder add(Step step) {
        steps.add(step);
        return this;
    }

    private TensorType ofAllRanks(String source) {
        TensorType type = typeOf(source);
        return new TensorType(type.memory(), type.dataType(), type.shape().ofAllRanks(), List.of());
    }

    private TensorType typeOf(String name) {
        TensorType type = types.get(name);
        if (type == null) {
            throw new IllegalArgumentException("there is no tensor " + name + " yet; there are " + types.keySet());
        }
        return type;
    }
}
