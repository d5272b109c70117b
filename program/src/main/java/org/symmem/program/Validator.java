package org.symmem.program;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.symmem.Shape;

/**
 * Checks what can be known of a program before anything is allocated: names, types, memory, that each post has its wait, and that no
 * rank changes what a peer may be looking at. Local; the same for all ranks.
 */
public final class Validator {
    private final int worldSize;
    private final Map<String, CheckedTensor> tensors = new HashMap<>();
    private final List<Statement> program;

    private Validator(Program program, int worldSize) {
        this.program = program.statements();
        this.worldSize = worldSize;
    }

    /**
     * @param program   what is checked
     * @param worldSize the number of ranks that it is for
     * @throws ProgramException at the first statement that is wrong
     */
    public static void check(Program program, int worldSize) {
        Validator validator = new Validator(program, worldSize);
        validator.block(validator.program);
    }

    private void block(List<Statement> block) {
        boolean outputs = false;
        for (Statement statement : block) {
            if (outputs && !(statement.step() instanceof Step.Output)) {
                throw wrong(statement, "", "outputs are a program's last statements");
            }
            outputs |= statement.step() instanceof Step.Output;
            check(statement, block);
        }
        for (CheckedTensor tensor : List.copyOf(tensors.values())) {
            if (tensor.post != null && tensor.post.block() == block) {
                throw wrong(tensor.post.statement(), tensor.name,
                        "what this begins is never waited for" + (block == program ? "" : " in the loop") + ": add \"wait " + tensor.name
                                + "\"");
            }
            if (block != program && tensor.block == block) {
                if (tensor.isAllocated() && tensor.freed == null) {
                    throw wrong(tensor.made, tensor.name, "each time the loop allocates another " + tensor.name
                            + ": allocate it before the loop, or deallocate it in the loop");
                }
                tensors.remove(tensor.name);
            }
        }
    }

    private void check(Statement statement, List<Statement> block) {
        switch (statement.step()) {
            case Step.Input(String name, TensorType type) -> {
                topLevel(statement, block);
                // The caller fills it, each rank when it likes.
                define(statement, block, name, type, null).changed = true;
            }
            case Step.Output(String name, MemoryType memory) -> output(statement, block, name, memory);
            case Step.Allocate(String name, TensorType type) -> define(statement, block, name, type, null);
            case Step.Deallocate(String name) -> deallocate(statement, block, name);
            case Step.Copy(String source, String target) -> {
                CheckedTensor from = read(statement, source);
                apart(statement, from, named(statement, target), target);
                CheckedTensor to = written(statement, target);
                same(statement, from, to, "copy");
            }
            case Step.Broadcast(String source, int root, String target) -> {
                if (root >= worldSize) {
                    throw wrong(statement, Integer.toString(root),
                            "root " + root + " is not a rank: there are ranks 0 to " + (worldSize - 1));
                }
                CheckedTensor to = post(statement, block, source, target);
                same(statement, named(statement, source), to, "broadcast");
            }
            case Step.AllGather(String source, String target) -> {
                CheckedTensor to = post(statement, block, source, target);
                CheckedTensor from = named(statement, source);
                if (!to.shape.equals(from.shape.prepend(worldSize)) || from.type.dataType() != to.type.dataType()) {
                    throw wrong(statement, target, "allgather of " + from + " fills a tensor of " + from.type.dataType() + " "
                            + from.shape.prepend(worldSize) + ", not " + to);
                }
            }
            case Step.AllGatherView(String source, String view) -> {
                meet();
                view(statement, block, view, source);
            }
            case Step.View(String view, String source) -> view(statement, block, view, source);
            case Step.Wait(String target) -> await(statement, block, target);
            case Step.Barrier() -> meet();
            case Step.Loop(int times, List<Statement> body) -> {
                // What the first time leaves behind is what the second begins with; the third finds nothing new.
                for (int time = 0; time < Math.min(times, 2); time++) {
                    block(body);
                }
            }
        }
    }

    private void topLevel(Statement statement, List<Statement> block) {
        if (block != program) {
            throw wrong(statement, "", "inputs and outputs are the program's, not a loop's");
        }
    }

    private CheckedTensor define(Statement statement, List<Statement> block, String name, TensorType type,
            @Nullable CheckedTensor shown) {
        CheckedTensor earlier = tensors.get(name);
        if (earlier != null && earlier.freed == null) {
            throw wrong(statement, name, "there is a tensor " + name + " already, of line " + earlier.made.line());
        }
        Shape shape;
        try {
            shape = type.shape().on(worldSize);
        } catch (IllegalArgumentException e) {
            throw wrong(statement, name, String.valueOf(e.getMessage()));
        }
        CheckedTensor tensor = new CheckedTensor(name, type, shape, shown, statement, block);
        strides(statement, tensor);
        tensors.put(name, tensor);
        return tensor;
    }

    private void strides(Statement statement, CheckedTensor tensor) {
        List<Long> strides = tensor.type.strides();
        if (strides.isEmpty()) {
            return;
        }
        if (strides.size() != tensor.shape.rank()) {
            throw wrong(statement, "strides", tensor + " needs " + tensor.shape.rank() + " strides, not " + strides);
        }
        if (tensor.type.memory() == MemoryType.SYMMETRIC && tensor.hasGaps()) {
            throw wrong(statement, "strides", "symmetric memory is contiguous: " + tensor + " has strides " + strides + " instead of "
                    + java.util.Arrays.toString(tensor.shape.denseStrides()) + "; leave them out, or use global memory");
        }
        try {
            tensor.shape.spannedBy(strides.stream().mapToLong(Long::longValue).toArray());
        } catch (IllegalArgumentException e) {
            throw wrong(statement, "strides", String.valueOf(e.getMessage()));
        }
    }

    private void output(Statement statement, List<Statement> block, String name, MemoryType memory) {
        topLevel(statement, block);
        CheckedTensor tensor = read(statement, name);
        if (tensor.type.memory() != memory) {
            throw wrong(statement, memory.toString(), tensor + " is in " + tensor.type.memory() + " memory, not in " + memory
                    + ": copy it to a tensor there first");
        }
    }

    private void deallocate(Statement statement, List<Statement> block, String name) {
        CheckedTensor tensor = usable(statement, name);
        if (!tensor.isAllocated()) {
            throw wrong(statement, name, "only what was allocated is deallocated; " + name + " is " + (tensor.shown == null ? "an input"
                    : "a view"));
        }
        if (tensor.block != block) {
            throw wrong(statement, name,
                    name + " is allocated outside of the loop (line " + tensor.made.line() + ") and is deallocated there");
        }
        notRead(statement, tensor);
        tensor.freed = statement;
    }

    private CheckedTensor post(Statement statement, List<Statement> block, String source, String target) {
        CheckedTensor from = read(statement, source);
        apart(statement, from, named(statement, target), target);
        if (from.hasGaps()) {
            throw wrong(statement, source, from + " may have gaps: copy it to a contiguous tensor first");
        }
        CheckedTensor to = written(statement, target);
        if (to.type.memory() != MemoryType.SYMMETRIC) {
            throw wrong(statement, target, to + " is in " + to.type.memory() + " memory; what ranks fill for each other is symmetric");
        }
        to.post = new CheckedTensor.Post(statement, from, block);
        from.reader = statement;
        return to;
    }

    private void view(Statement statement, List<Statement> block, String view, String source) {
        CheckedTensor from = usable(statement, source);
        if (from.shown != null || from.type.memory() != MemoryType.SYMMETRIC) {
            throw wrong(statement, source, from + (from.shown == null ? " is in global memory" : " is a view itself")
                    + "; a view shows the ranks' buffers of a symmetric tensor");
        }
        define(statement, block, view,
                new TensorType(MemoryType.SYMMETRIC, from.type.dataType(), from.type.shape().ofAllRanks(), List.of()), from);
    }

    private void await(Statement statement, List<Statement> block, String target) {
        CheckedTensor tensor = named(statement, target);
        CheckedTensor.Post post = tensor.post;
        if (post == null) {
            throw wrong(statement, target, "nothing was begun into " + target
                    + " that was not waited for: a broadcast or allgather to it comes first");
        }
        if (post.block() != block) {
            throw wrong(statement, target,
                    "what line " + post.statement().line() + " begins outside of the loop is waited for once, outside");
        }
        tensor.post = null;
        post.source().reader = null;
    }

    private void meet() {
        for (CheckedTensor tensor : tensors.values()) {
            tensor.changed = false;
            tensor.seen = false;
        }
    }

    private CheckedTensor named(Statement statement, String name) {
        CheckedTensor tensor = tensors.get(name);
        if (tensor == null) {
            throw wrong(statement, name, "there is no tensor " + name + " here");
        }
        Statement freed = tensor.owner().freed;
        if (freed != null) {
            throw wrong(statement, name, (tensor.shown == null ? name : tensor.owner().name + ", which " + name + " shows,")
                    + " was deallocated in line " + freed.line());
        }
        return tensor;
    }

    private CheckedTensor usable(Statement statement, String name) {
        CheckedTensor tensor = named(statement, name);
        CheckedTensor.Post post = tensor.owner().post;
        if (post != null) {
            throw wrong(statement, name,
                    "line " + post.statement().line() + " fills " + tensor.owner().name + ", which was not waited for: add \"wait "
                            + tensor.owner().name + "\" before");
        }
        return tensor;
    }

    private CheckedTensor read(Statement statement, String name) {
        CheckedTensor tensor = usable(statement, name);
        if (tensor.shown != null) {
            CheckedTensor owner = tensor.owner();
            if (owner.changed) {
                throw wrong(statement, name, "ranks may still be changing " + owner.name + ", which " + name
                        + " shows: add \"barrier\" before");
            }
            owner.seen = true;
        }
        return tensor;
    }

    private CheckedTensor written(Statement statement, String name) {
        CheckedTensor tensor = usable(statement, name);
        if (tensor.shown != null) {
            throw wrong(statement, name, name + " is a view, which is only read; each rank changes its own "
                    + tensor.owner().name);
        }
        notRead(statement, tensor);
        if (tensor.seen) {
            throw wrong(statement, name, "peers may still be looking at " + name + " through a view: add \"barrier\" before");
        }
        tensor.changed = true;
        return tensor;
    }

    private void notRead(Statement statement, CheckedTensor tensor) {
        if (tensor.reader != null) {
            throw wrong(statement, tensor.name, "line " + Objects.requireNonNull(tensor.reader).line() + " still reads " + tensor.name
                    + ": wait for its target before");
        }
    }

    private static void apart(Statement statement, CheckedTensor one, CheckedTensor other, String name) {
        if (one.owner() == other.owner()) {
            throw wrong(statement, name, "source and target share memory: " + one.name + " and " + other.name + " are one tensor's");
        }
    }

    private static void same(Statement statement, CheckedTensor from, CheckedTensor to, String what) {
        if (!from.shape.equals(to.shape) || from.type.dataType() != to.type.dataType()) {
            throw wrong(statement, to.name, what + " needs one shape and data type: " + from + " is not like " + to);
        }
    }

    private static ProgramException wrong(Statement statement, String word, String reason) {
        return new ProgramException(statement.line(), statement.columnOf(word), reason);
    }
}
