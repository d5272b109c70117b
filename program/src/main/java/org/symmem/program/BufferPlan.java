package org.symmem.program;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Which tensor of a program gets which buffer, before any is allocated, so that nothing is allocated while ranks wait for each other.
 * A loop's tensors get the same buffers each time. Global memory that was deallocated is used again by the same program; symmetric memory
 * is not, for peers may be at other steps of it.
 */
final class BufferPlan {
    private final int worldSize;
    private final List<Buffer.Kind> kinds = new ArrayList<>();
    private final Map<Statement, Integer> numbers = new IdentityHashMap<>();
    private final Map<String, Integer> live = new HashMap<>();
    private final List<Integer> free = new ArrayList<>();

    private BufferPlan(int worldSize) {
        this.worldSize = worldSize;
    }

    /** {@return the plan for a program that is right} */
    static BufferPlan of(Program program, int worldSize) {
        BufferPlan plan = new BufferPlan(worldSize);
        plan.walk(program.statements());
        return plan;
    }

    private void walk(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement.step()) {
                case Step.Input(String name, TensorType type) -> take(statement, name, type);
                case Step.Allocate(String name, TensorType type) -> take(statement, name, type);
                case Step.Deallocate(String name) -> {
                    int number = Objects.requireNonNull(live.remove(name));
                    if (kinds.get(number).memory() == MemoryType.GLOBAL) {
                        free.add(number);
                    }
                }
                case Step.Loop loop -> walk(loop.body());
                default -> {
                    // It makes no tensor, or one without memory of its own.
                }
            }
        }
    }

    private void take(Statement statement, String name, TensorType type) {
        Buffer.Kind kind = Buffer.Kind.of(type, worldSize);
        Integer number = free.stream().filter(one -> kinds.get(one).equals(kind)).findFirst().orElse(null);
        if (number == null) {
            number = kinds.size();
            kinds.add(kind);
        } else {
            free.remove(number);
        }
        numbers.put(statement, number);
        live.put(name, number);
    }

    /** {@return the kinds of all buffers that are needed, in order} */
    List<Buffer.Kind> kinds() {
        return kinds;
    }

    /** {@return the place in {@link #kinds()} of what a statement makes} */
    int numberOf(Statement statement) {
        return Objects.requireNonNull(numbers.get(statement));
    }
}
