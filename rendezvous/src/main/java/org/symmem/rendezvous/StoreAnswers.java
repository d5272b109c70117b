package org.symmem.rendezvous;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What the store has answered to one client and the client has not taken yet. Values are held as the store holds them, not copied:
 * a client that asks for much and reads slowly costs references. Used by the store's thread alone.
 */
final class StoreAnswers {
    private Deque<byte[]> pieces = new ArrayDeque<>(1);
    /** How much of the first piece the client has taken. */
    private int taken;
    private long bytes;

    /** {@return how much the client has still to take, in bytes} */
    long bytes() {
        return bytes;
    }

    void addByte(byte number) {
        add(new byte[]{number});
    }

    void addInt(int number) {
        add(ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(number).array());
    }

    void addLong(long number) {
        add(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array());
    }

    /** @param value never changed from now on */
    void addValue(byte[] value) {
        addLong(value.length);
        add(value);
    }

    private void add(byte[] piece) {
        pieces.add(piece);
        bytes += piece.length;
    }

    /**
     * Writes once, as much as the buffer holds: whoever has much to take comes again after the other clients.
     *
     * @param scratch emptied and used on the way
     */
    void writeOnce(SocketChannel channel, ByteBuffer scratch) throws IOException {
        fill(scratch.clear());
        take(channel.write(scratch.flip()));
    }

    private void fill(ByteBuffer scratch) {
        int from = taken;
        for (byte[] piece : pieces) {
            int length = Math.min(scratch.remaining(), piece.length - from);
            scratch.put(piece, from, length);
            from = 0;
            if (!scratch.hasRemaining()) {
                return;
            }
        }
    }

    private void take(int written) {
        bytes -= written;
        taken += written;
        while (!pieces.isEmpty() && taken >= pieces.getFirst().length) {
            taken -= pieces.removeFirst().length;
        }
        if (pieces.isEmpty()) {
            // A long answer's room is not kept.
            pieces = new ArrayDeque<>(1);
        }
    }

    void clear() {
        pieces = new ArrayDeque<>(1);
        taken = 0;
        bytes = 0;
    }
}
