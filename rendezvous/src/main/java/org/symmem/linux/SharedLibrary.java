package org.symmem.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Why a file cannot be loaded as a native library: Java only says that it cannot. Local; any thread. */
public final class SharedLibrary {
    private static final byte[] MAGIC = {0x7f, 'E', 'L', 'F'};
    private static final int HEADER_BYTES = 64;
    private static final int CLASS_AT = 4;
    private static final int CLASS_64 = 2;
    private static final int TYPE_AT = 16;
    private static final int TYPE_SHARED = 3;
    private static final int MACHINE_AT = 18;
    private static final int SEGMENTS_AT = 32;
    private static final int SEGMENT_BYTES_AT = 54;
    private static final int SEGMENT_COUNT_AT = 56;
    private static final int SEGMENT_TYPE_AT = 0;
    private static final int SEGMENT_LOADED = 1;
    private static final int SEGMENT_OFFSET_AT = 8;
    private static final int SEGMENT_SIZE_AT = 32;
    private static final int SEGMENT_BYTES = 56;
    private static final int X86_64 = 62;
    private static final int AARCH64 = 183;
    private static final int RTLD_LAZY = 1;

    private SharedLibrary() {}

    /**
     * Looks at a file before a loader does: one that is cut off ends the process, the C library calls one for another processor "not
     * found", and Java warns of the stack of one that is no library.
     *
     * @param file exists
     * @return why it is no library for this machine, or empty if it looks like one
     */
    public static Optional<String> unsuitable(Path file) {
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer header = read(channel, 0, HEADER_BYTES);
            if (header.limit() < HEADER_BYTES || !Arrays.equals(header.array(), 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
                return Optional.of(file + " is no library: it does not begin as an ELF file does");
            }
            int machine = header.getShort(MACHINE_AT);
            int own = System.getProperty("os.arch").toLowerCase(Locale.ROOT).equals("aarch64") ? AARCH64 : X86_64;
            if (header.get(CLASS_AT) != CLASS_64 || machine != own) {
                return Optional.of(file + " is for " + name(machine) + ", this process runs on " + name(own));
            }
            if (header.getShort(TYPE_AT) != TYPE_SHARED) {
                return Optional.of(file + " is an ELF file, but no shared library");
            }
            long needed = bytesNeeded(channel, header);
            return channel.size() >= needed ? Optional.empty()
                    : Optional.of(file + " is cut off: it has " + channel.size() + " bytes of at least " + needed + ". Copy it anew");
        } catch (IOException e) {
            return Optional.of(file + " cannot be read: " + e);
        }
    }

    private static ByteBuffer read(FileChannel channel, long at, int size) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining() && channel.read(bytes, at + bytes.position()) >= 0) {
            // A file gives less than was asked for only where it ends, or is slow.
        }
        return bytes.flip();
    }

    /** {@return how long the file must be for what is loaded of it} */
    private static long bytesNeeded(FileChannel channel, ByteBuffer header) throws IOException {
        long table = header.getLong(SEGMENTS_AT);
        int stride = Short.toUnsignedInt(header.getShort(SEGMENT_BYTES_AT));
        int count = Short.toUnsignedInt(header.getShort(SEGMENT_COUNT_AT));
        long needed = table + (long) stride * count;
        for (int i = 0; i < count && table >= 0 && needed <= channel.size(); i++) {
            ByteBuffer segment = read(channel, table + (long) i * stride, SEGMENT_BYTES);
            if (segment.limit() == SEGMENT_BYTES && segment.getInt(SEGMENT_TYPE_AT) == SEGMENT_LOADED) {
                needed = Math.max(needed, segment.getLong(SEGMENT_OFFSET_AT) + segment.getLong(SEGMENT_SIZE_AT));
            }
        }
        return needed;
    }

    private static String name(int machine) {
        return switch (machine) {
            case X86_64 -> "x86-64";
            case AARCH64 -> "AArch64";
            case 3 -> "32-bit x86";
            case 21 -> "64-bit PowerPC";
            default -> "another processor (ELF machine " + machine + ")";
        };
    }

    /**
     * Tries once more to load what could not be loaded, for the loader's own words.
     *
     * @param file a path, or a name that the loader looks for
     * @return what the loader says
     */
    public static String loaderError(String file) {
        Linker linker = Linker.nativeLinker();
        var calls = linker.defaultLookup();
        try (Arena arena = Arena.ofConfined()) {
            var dlopen = linker.downcallHandle(calls.find("dlopen").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
            var dlerror = linker.downcallHandle(calls.find("dlerror").orElseThrow(), FunctionDescriptor.of(ValueLayout.ADDRESS));
            MemorySegment library = (MemorySegment) dlopen.invokeExact(arena.allocateFrom(file), RTLD_LAZY);
            MemorySegment error = (MemorySegment) dlerror.invokeExact();
            return library.address() != 0 || error.address() == 0 ? "the loader gives no reason"
                    : error.reinterpret(Long.MAX_VALUE).getString(0);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
