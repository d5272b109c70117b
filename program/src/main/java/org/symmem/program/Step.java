package org.symmem.program;

import java.util.List;

/** One thing that a program does, or says about itself. Values; what {@code toString} gives is the statement of the text. */
public sealed interface Step {
    /** A tensor that the caller fills before a run. */
    record Input(String name, TensorType type) implements Step {
        @Override
        public String toString() {
            return "input " + name + " " + type;
        }
    }

    /** A tensor that the caller reads after a run, and the memory that it is promised to be in. */
    record Output(String name, MemoryType memory) implements Step {
        @Override
        public String toString() {
            return "output " + name + " " + memory;
        }
    }

    /** Makes a tensor. What it holds at first is not said: it may have been used before. */
    record Allocate(String name, TensorType type) implements Step {
        @Override
        public String toString() {
            return "allocate " + name + " " + type;
        }
    }

    /** Ends a tensor that was allocated. */
    record Deallocate(String name) implements Step {
        @Override
        public String toString() {
            return "deallocate " + name;
        }
    }

    /** Copies all elements to a tensor of the same shape and data type, in whichever memory. */
    record Copy(String source, String target) implements Step {
        @Override
        public String toString() {
            return "copy " + source + " to " + target;
        }
    }

    /** Begins to copy the root's source to every rank's target. */
    record Broadcast(String source, int root, String target) implements Step {
        @Override
        public String toString() {
            return "broadcast " + source + " from " + root + " to " + target;
        }
    }

    /** Begins to copy every rank's source to every rank's target, which has one more dimension in front. */
    record AllGather(String source, String target) implements Step {
        @Override
        public String toString() {
            return "allgather " + source + " to " + target;
        }
    }

    /** Has all ranks meet, and then shows their sources side by side: an all-gather without a copy, for who can use a view. */
    record AllGatherView(String source, String view) implements Step {
        @Override
        public String toString() {
            return "allgather " + source + " as " + view;
        }
    }

    /** Shows all ranks' buffers of a symmetric tensor as one, without a copy; the outermost dimension is the ranks'. */
    record View(String view, String source) implements Step {
        @Override
        public String toString() {
            return "view " + view + " of " + source;
        }
    }

    /** Has later steps wait until what was begun into a target has come. */
    record Wait(String target) implements Step {
        @Override
        public String toString() {
            return "wait " + target;
        }
    }

    /** Has later steps of every rank wait for all earlier steps of all ranks. */
    record Barrier() implements Step {
        @Override
        public String toString() {
            return "barrier";
        }
    }

    /** Does a body several times. */
    record Loop(int times, List<Statement> body) implements Step {
        /** Copies the body. */
        public Loop {
            body = List.copyOf(body);
        }

        /** {@return its first line} */
        @Override
        public String toString() {
            return "loop " + times;
        }
    }
}
