package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.symmem.tck.TckSettings;

/** The emulated driver's own functions, called in a rank's process: failures on demand, and what is alive. */
final class EmulatedDriver {
    private static final MethodHandle FAIL = function("emu_fail", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    private static final MethodHandle LIVE = function("emu_live_objects",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle CALLS = function("emu_calls", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));

    private EmulatedDriver() {}

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(CudaLibrary.symbol(name).orElseThrow(), descriptor);
    }

    /** {@return settings for ranks with so many emulated devices and more variables of the emulated driver, without their prefix} */
    static TckSettings settings(int ranks, int devices, Map<String, String> more) {
        Map<String, String> environment = new java.util.HashMap<>(Map.of("SYMMEM_EMULATION_DEVICES", Integer.toString(devices)));
        more.forEach((name, value) -> environment.put("SYMMEM_EMULATION_" + name, value));
        return TckSettings.forBackend("cuda").withRanks(ranks).withEnvironment(environment);
    }

    /** Makes one call of this process fail: the given function, the so many-th time from now. */
    static void failOnce(String function, int occurrence, int code) {
        set("call=" + function + ",occurrence=" + occurrence + ",code=" + code);
    }

    static void failNothing() {
        set("");
    }

    private static void set(String rules) {
        try (Arena arena = Arena.ofConfined()) {
            if ((int) FAIL.invokeExact(arena.allocateFrom(rules)) != 0) {
                throw new AssertionError("the emulated driver does not understand " + rules);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** {@return how many objects of each kind this process has, as JSON} */
    static String live() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment json = arena.allocate(2048);
            int length = (int) LIVE.invokeExact(json, json.byteSize());
            if (length >= json.byteSize()) {
                throw new AssertionError("the emulated driver says more than was expected");
            }
            return json.getString(0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** {@return how often this process has called a function} */
    static long calls(String function) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) CALLS.invokeExact(arena.allocateFrom(function));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** {@return every function of the driver that the backend knows, by its name without version} */
    static List<String> functions() {
        return Stream.of(CudaDriver.class.getDeclaredClasses()).map(one -> "cu" + one.getSimpleName()).sorted().toList();
    }
}
