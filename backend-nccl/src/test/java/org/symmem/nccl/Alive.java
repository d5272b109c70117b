package org.symmem.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** What the emulated libraries of this process say is alive. */
final class Alive {
    private Alive() {}

    /** {@return a sentence: nothing, or what} */
    static String inWords() {
        try (Arena arena = Arena.ofConfined()) {
            String all = ofNccl(arena) + ofDriver(arena);
            return Pattern.compile(":-?[1-9]").matcher(all).find() ? "alive: " + all : "nothing is alive";
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static MemorySegment function(String library, String name) {
        return SymbolLookup.libraryLookup(Path.of(System.getProperty(library)), Arena.global()).find(name).orElseThrow();
    }

    private static String ofNccl(Arena arena) throws Throwable {
        MemorySegment counts = arena.allocate(ValueLayout.JAVA_INT, 3);
        var ask = Linker.nativeLinker()
                .downcallHandle(function("symmem.nccl.path", "emu_nccl_live"),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        int status = (int) ask.invokeExact(counts, counts.asSlice(4), counts.asSlice(8));
        return "{\"status\":" + status + ",\"communicators\":" + counts.getAtIndex(ValueLayout.JAVA_INT, 0) + ",\"windows\":"
                + counts.getAtIndex(ValueLayout.JAVA_INT, 1) + ",\"memoriesOfNccl\":" + counts.getAtIndex(ValueLayout.JAVA_INT, 2) + "}";
    }

    private static String ofDriver(Arena arena) throws Throwable {
        MemorySegment json = arena.allocate(2048);
        var ask = Linker.nativeLinker()
                .downcallHandle(function("symmem.cuda.path", "emu_live_objects"),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
        int length = (int) ask.invokeExact(json, json.byteSize());
        return length < json.byteSize() ? json.getString(0) : "{\"tooMuch\":1}";
    }
}
