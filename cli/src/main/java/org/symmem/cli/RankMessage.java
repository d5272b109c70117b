package org.symmem.cli;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.symmem.SymmetricMemoryException;
import org.symmem.bench.Growth;
import org.symmem.bench.Measurement;
import org.symmem.spi.Wire;

/**
 * What a rank of the main job or a benchmark tells its parent: behind a mark, at the end of a line of its standard output, so that it survives
 * whatever else is printed there. Encoded without a library, for a rank has to be small.
 */
sealed interface RankMessage {
    /** No program prints this by chance. */
    String MARK = "\u0001symmem\u0001";

    /**
     * How far a rank is.
     *
     * @param done  bytes loaded and read so far, or rows measured
     * @param total to be done in all
     */
    record Progress(long done, long total) implements RankMessage {}

    /**
     * What the rank found in the end.
     *
     * @param loadedBytes       its shard of the file
     * @param seconds           from opening to verified
     * @param viewSha256        the file's digest through the contiguous view; empty where the backend has none
     * @param viewGigabytes     a second, copied through the view
     * @param peersSha256       the file's digest through the peers' buffers
     * @param peersGigabytes    a second, copied from the peers
     * @param residentKibibytes the most memory that the process had resident
     */
    record Result(long pid, String host, String backend, String device, long loadedBytes, double seconds, String viewSha256,
            double viewGigabytes, String peersSha256, double peersGigabytes, long residentKibibytes)
            implements
                RankMessage {}

    /** What an output of a program holds on one rank; the digest is of its elements in order. */
    record Held(String name, String type, String sha256) {}

    /** What the rank holds after a program. */
    record ProgramResult(String host, String backend, String device, List<Held> outputs) implements RankMessage {}

    /**
     * What a benchmark measures with.
     *
     * @param timing how a batch is timed, in words
     */
    record Opened(String backend, String device, String timing) implements RankMessage {}

    /** One row of a benchmark. */
    record Measured(Measurement measurement) implements RankMessage {}

    /** How one quantity stands with the job's number of ranks. */
    record Grown(Growth.Point point) implements RankMessage {}

    /** A row that a benchmark cannot measure, and why. */
    record Skipped(String operation, String reason) implements RankMessage {}

    /**
     * The rank has failed.
     *
     * @param message why
     * @param trace   the stack trace
     */
    record Failure(String message, String trace) implements RankMessage {}

    /** {@return the failure of a rank that ends because of an error} */
    static Failure failure(Throwable error) {
        StringWriter trace = new StringWriter();
        error.printStackTrace(new PrintWriter(trace));
        boolean explained = error instanceof SymmetricMemoryException || error instanceof FailureException;
        return new Failure(explained ? String.valueOf(error.getMessage()) : error.toString(), trace.toString());
    }

    /** A line of output: what the program printed, and the message behind it, if there is one. */
    record Line(String text, java.util.Optional<RankMessage> message) {}

    /** Prints the message for the parent. */
    default void print() {
        byte[] bytes = Wire.write(this::write);
        System.out.println(MARK + Base64.getEncoder().encodeToString(bytes));
        System.out.flush();
    }

    private void write(DataOutputStream out) throws IOException {
        switch (this) {
            case Progress p -> {
                out.writeByte('P');
                out.writeLong(p.done());
                out.writeLong(p.total());
            }
            case Result r -> {
                out.writeByte('R');
                out.writeLong(r.pid());
                out.writeUTF(r.host());
                out.writeUTF(r.backend());
                out.writeUTF(r.device());
                out.writeLong(r.loadedBytes());
                out.writeDouble(r.seconds());
                out.writeUTF(r.viewSha256());
                out.writeDouble(r.viewGigabytes());
                out.writeUTF(r.peersSha256());
                out.writeDouble(r.peersGigabytes());
                out.writeLong(r.residentKibibytes());
            }
            case Opened o -> {
                out.writeByte('O');
                out.writeUTF(o.backend());
                out.writeUTF(o.device());
                out.writeUTF(o.timing());
            }
            case Measured m -> {
                out.writeByte('M');
                out.writeUTF(m.measurement().operation());
                out.writeLong(m.measurement().bytes());
                out.writeInt(m.measurement().calls());
                out.writeInt(m.measurement().nanos().length);
                for (double nanos : m.measurement().nanos()) {
                    out.writeDouble(nanos);
                }
            }
            case Grown g -> {
                out.writeByte('G');
                out.writeUTF(g.point().quantity());
                out.writeInt(g.point().ranks());
                out.writeDouble(g.point().value());
                out.writeUTF(g.point().unit());
            }
            case Skipped s -> {
                out.writeByte('S');
                out.writeUTF(s.operation());
                out.writeUTF(shortened(s.reason()));
            }
            case ProgramResult r -> {
                out.writeByte('H');
                out.writeUTF(r.host());
                out.writeUTF(r.backend());
                out.writeUTF(r.device());
                out.writeInt(r.outputs().size());
                for (Held held : r.outputs()) {
                    out.writeUTF(held.name());
                    out.writeUTF(held.type());
                    out.writeUTF(held.sha256());
                }
            }
            case Failure f -> {
                out.writeByte('F');
                out.writeUTF(shortened(f.message()));
                out.writeUTF(shortened(f.trace()));
            }
        }
    }

    private static String shortened(String text) {
        return text.length() > 10_000 ? text.substring(0, 10_000) + " …" : text;
    }

    private static RankMessage read(DataInputStream in) throws IOException {
        return switch (in.readByte()) {
            case 'P' -> new Progress(in.readLong(), in.readLong());
            case 'R' -> new Result(in.readLong(), in.readUTF(), in.readUTF(), in.readUTF(), in.readLong(), in.readDouble(), in.readUTF(),
                    in.readDouble(), in.readUTF(), in.readDouble(), in.readLong());
            case 'O' -> new Opened(in.readUTF(), in.readUTF(), in.readUTF());
            case 'M' -> new Measured(measurement(in));
            case 'G' -> new Grown(new Growth.Point(in.readUTF(), in.readInt(), in.readDouble(), in.readUTF()));
            case 'S' -> new Skipped(in.readUTF(), in.readUTF());
            case 'H' -> new ProgramResult(in.readUTF(), in.readUTF(), in.readUTF(), readHeld(in));
            case 'F' -> new Failure(in.readUTF(), in.readUTF());
            default -> throw new IOException("no message of a rank");
        };
    }

    private static Measurement measurement(DataInputStream in) throws IOException {
        String operation = in.readUTF();
        long bytes = in.readLong();
        int calls = in.readInt();
        double[] nanos = new double[in.readInt()];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = in.readDouble();
        }
        return new Measurement(operation, bytes, calls, nanos);
    }

    private static List<Held> readHeld(DataInputStream in) throws IOException {
        List<Held> outputs = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            outputs.add(new Held(in.readUTF(), in.readUTF(), in.readUTF()));
        }
        return outputs;
    }

    /** {@return what a line of a rank's output holds} */
    static Line in(String line) {
        int mark = line.indexOf(MARK);
        if (mark < 0) {
            return new Line(line, java.util.Optional.empty());
        }
        try {
            byte[] bytes = Base64.getDecoder().decode(line.substring(mark + MARK.length()).strip());
            return new Line(line.substring(0, mark), java.util.Optional.of(Wire.read(bytes, RankMessage::read)));
        } catch (RuntimeException e) {
            // Something else was printed into the message.
            return new Line(line, java.util.Optional.empty());
        }
    }
}
