package org.symmem.program;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.symmem.DataType;

/** One line of a program's text, read word by word. */
final class ProgramLine {
    static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z_0-9]*");
    private static final Pattern WORD = Pattern.compile("\\s*([A-Za-z_0-9]+|-[0-9]+|[\\[\\],])");
    private static final int MOST_CHARACTERS = 1_000;

    private record Word(String text, int column) {}

    private final int line;
    private final int length;
    private final List<Word> words = new ArrayList<>();
    private int next;

    ProgramLine(int line, String text) {
        this.line = line;
        String code = (text.contains("#") ? text.substring(0, text.indexOf('#')) : text).stripTrailing();
        this.length = code.length();
        if (length > MOST_CHARACTERS) {
            throw new ProgramException(line, MOST_CHARACTERS + 1, "the line is longer than " + MOST_CHARACTERS + " characters");
        }
        Matcher matcher = WORD.matcher(code);
        int at = 0;
        while (at < length) {
            matcher.region(at, length);
            if (!matcher.lookingAt()) {
                int column = at + code.substring(at).length() - code.substring(at).stripLeading().length();
                throw new ProgramException(line, column + 1, "no statement has a '" + code.charAt(column) + "' here");
            }
            words.add(new Word(matcher.group(1), matcher.start(1) + 1));
            at = matcher.end();
        }
    }

    boolean isEmpty() {
        return words.isEmpty();
    }

    /** {@return the statement, of any kind but loop and end} */
    Step step() {
        String verb = words.get(next++).text();
        return switch (verb) {
            case "input" -> new Step.Input(name(), type());
            case "output" -> new Step.Output(name(), memory());
            case "allocate" -> new Step.Allocate(name(), type());
            case "deallocate" -> new Step.Deallocate(name());
            case "copy" -> new Step.Copy(name(), nameAfter("to"));
            case "broadcast" -> {
                String source = name();
                expect("from");
                yield new Step.Broadcast(source, number(0, "the rank that is the root"), nameAfter("to"));
            }
            case "allgather" -> {
                String source = name();
                yield accept("as") ? new Step.AllGatherView(source, name()) : new Step.AllGather(source, nameAfter("to"));
            }
            case "view" -> new Step.View(name(), nameAfter("of"));
            case "wait" -> new Step.Wait(name());
            case "barrier" -> new Step.Barrier();
            default -> {
                next--;
                throw wrong("a statement begins with input, allocate, deallocate, copy, broadcast, allgather, view, wait, barrier, loop, "
                        + "end or output");
            }
        };
    }

    /** {@return whether the next word is this one, which is then read} */
    boolean accept(String word) {
        if (next < words.size() && words.get(next).text().equals(word)) {
            next++;
            return true;
        }
        return false;
    }

    /** Makes sure that nothing follows. */
    void end() {
        if (next < words.size()) {
            throw wrong("the statement ends before this");
        }
    }

    int number(int least, String what) {
        long value = longNumber(what);
        if (value < least || value > Integer.MAX_VALUE) {
            next--;
            throw wrong(what + " is needed here: a whole number from " + least);
        }
        return (int) value;
    }

    private long longNumber(String what) {
        try {
            long value = Long.parseLong(word());
            next++;
            return value;
        } catch (NumberFormatException e) {
            throw wrong(what + " is needed here: a whole number");
        }
    }

    private String word() {
        return next < words.size() ? words.get(next).text() : "";
    }

    private String nameAfter(String word) {
        expect(word);
        return name();
    }

    private void expect(String word) {
        if (!accept(word)) {
            throw wrong("\"" + word + "\" is needed here");
        }
    }

    private String name() {
        if (!NAME.matcher(word()).matches()) {
            throw wrong("the name of a tensor is needed here");
        }
        return words.get(next++).text();
    }

    private MemoryType memory() {
        for (MemoryType memory : MemoryType.values()) {
            if (accept(memory.toString())) {
                return memory;
            }
        }
        throw wrong("symmetric or global is needed here");
    }

    private TensorType type() {
        MemoryType memory = memory();
        DataType dataType = Stream.of(DataType.values())
                .filter(type -> accept(type.toString()))
                .findFirst()
                .orElseThrow(() -> wrong("a data type is needed here: "
                        + Stream.of(DataType.values()).map(DataType::toString).collect(Collectors.joining(", "))));
        ProgramShape shape = new ProgramShape(numbers(true));
        return new TensorType(memory, dataType, shape, accept("strides") ? numbers(false) : List.of());
    }

    private List<Long> numbers(boolean extents) {
        List<Long> all = new ArrayList<>();
        expect("[");
        while (!accept("]")) {
            if (!all.isEmpty()) {
                expect(",");
            }
            if (extents && accept("world")) {
                all.add(ProgramShape.WORLD);
                continue;
            }
            long value = longNumber(extents ? "an extent, or world," : "a stride");
            if (value < 1) {
                next--;
                throw wrong("extents and strides are positive");
            }
            all.add(value);
        }
        return all;
    }

    private ProgramException wrong(String reason) {
        boolean atEnd = next >= words.size();
        return new ProgramException(line, atEnd ? length + 1 : words.get(next).column(),
                reason + (atEnd ? ", not the end of the line" : ", not \"" + words.get(next).text() + "\""));
    }
}
