package org.symmem.cli;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemory;
import org.symmem.TensorView;
import org.symmem.program.Evaluator;
import org.symmem.program.Execution;
import org.symmem.program.Lowering;
import org.symmem.program.Program;
import org.symmem.program.ProgramText;
import org.symmem.program.Step;
import org.symmem.rendezvous.LocalLauncher;
import org.symmem.spi.HostIdentity;

/** One rank of a host program, in a process of its own. */
final class ProgramRank {
    private static final int CHUNK_BYTES = 1 << 20;
    /** A prime, so that rows and ranks do not repeat it, and small enough for every data type. */
    private static final int VALUES = 97;

    private ProgramRank() {}

    /** @param arguments the program's file, and the lowering */
    public static void main(String[] arguments) {
        LocalLauncher.endWithLauncher(() -> {});
        RankMain.run(() -> run(ProgramText.parse(Files.readString(Path.of(arguments[0]))), Lowering.valueOf(arguments[1])).print());
    }

    private static RankMessage.ProgramResult run(Program program, Lowering lowering) throws IOException {
        try (ProcessGroup group = ProcessGroup.fromEnvironment();
                SymmetricMemory memory = SymmetricMemory.open(group);
                Evaluator evaluator = Evaluator.on(memory, lowering);
                Execution execution = evaluator.prepare(program)) {
            for (Step.Input input : program.inputs()) {
                fill(execution.input(input.name()), input.name(), group.rank());
            }
            execution.run(group.timeout());
            List<RankMessage.Held> outputs = new ArrayList<>();
            for (Step.Output output : program.outputs()) {
                TensorView view = execution.output(output.name());
                outputs.add(new RankMessage.Held(output.name(), output.memory() + " " + view.dataType() + " " + view.shape(),
                        sha256(view)));
            }
            // Peers may be looking at this rank's buffers through views.
            execution.meet();
            return new RankMessage.ProgramResult(HostIdentity.local().name(), memory.backend(), memory.device(), outputs);
        }
    }

    /** Gives each element a value that depends on the input, the rank and the place. */
    static void fill(TensorView view, String name, int rank) {
        DataType type = view.dataType();
        int values = type == DataType.BOOL ? 2 : VALUES;
        long start = Math.floorMod(name.hashCode(), VALUES) + 31L * rank;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment elements = arena.allocate(view.sizeBytes(), Long.BYTES);
            for (long i = 0; i < view.shape().elements(); i++) {
                long bits = type.toBits((start + 7 * i) % values);
                // The machines that this runs on have the low byte first.
                for (int at = 0; at < type.sizeBytes(); at++) {
                    elements.set(java.lang.foreign.ValueLayout.JAVA_BYTE, i * type.sizeBytes() + at, (byte) (bits >>> 8 * at));
                }
            }
            view.copyFrom(elements);
        }
    }

    private static String sha256(TensorView view) {
        MessageDigest digest = InputFile.newDigest();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment elements = arena.allocate(view.sizeBytes(), Long.BYTES);
            view.copyTo(elements);
            for (long at = 0; at < elements.byteSize(); at += CHUNK_BYTES) {
                ByteBuffer chunk = elements.asSlice(at, Math.min(CHUNK_BYTES, elements.byteSize() - at)).asByteBuffer();
                digest.update(chunk);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
