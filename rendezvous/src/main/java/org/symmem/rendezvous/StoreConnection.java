package org.symmem.rendezvous;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/** One client of the store. Used by the store's thread alone. */
final class StoreConnection implements AutoCloseable {
    private static final ByteBuffer NOTHING = buffer(0);

    private final SocketChannel channel;
    private final SelectionKey key;
    private final StoreContents contents;
    private final StoreLimits limits;
    private final String peer;
    /** What has arrived and is not served; grows only with what arrives, so an idle client costs no buffer. */
    private ByteBuffer pending = NOTHING;
    private final Deque<ByteBuffer> answers = new ArrayDeque<>();
    private final Set<String> awaited = new HashSet<>();
    private boolean validated;

    StoreConnection(SocketChannel channel, SelectionKey key, StoreContents contents, StoreLimits limits) throws IOException {
        this.channel = channel;
        this.key = key;
        this.contents = contents;
        this.limits = limits;
        this.peer = String.valueOf(channel.getRemoteAddress());
    }

    /** Reads once and serves what is complete. {@return false if the client has closed} */
    boolean read(ByteBuffer scratch) throws IOException, StoreRequest.Violation {
        scratch.clear();
        if (channel.read(scratch) < 0) {
            return false;
        }
        scratch.flip();
        if (pending.remaining() + scratch.remaining() > limits.requestBytes()) {
            throw new StoreRequest.Violation("more than " + limits.requestBytes() + " bytes of requests at once");
        }
        take(scratch);
        serveComplete();
        if (!pending.hasRemaining()) {
            pending = NOTHING;
        }
        return true;
    }

    private void take(ByteBuffer arrived) {
        int wanted = pending.remaining() + arrived.remaining();
        ByteBuffer joined = pending.capacity() >= wanted ? pending.compact()
                : buffer(Math.max(wanted, 2 * pending.remaining())).put(pending);
        pending = joined.put(arrived).flip();
    }

    /** Serves requests while the client takes the answers: one that does not read gets no more served, so answers cannot pile up. */
    private void serveComplete() throws IOException, StoreRequest.Violation {
        while (answers.isEmpty()) {
            StoreRequest request = StoreRequest.parse(pending, limits);
            if (request == null) {
                return;
            }
            serve(request);
            flush();
        }
    }

    private void serve(StoreRequest request) throws StoreRequest.Violation {
        if (!validated) {
            if (request.opcode() != StoreProtocol.VALIDATE || request.number() != StoreProtocol.MAGIC) {
                throw new StoreRequest.Violation("it does not begin as a client of the store does");
            }
            validated = true;
            return;
        }
        if (!awaited.isEmpty() && request.opcode() != StoreProtocol.CANCEL_WAIT) {
            throw new StoreRequest.Violation("opcode " + request.opcode() + " came while a wait was not answered");
        }
        switch (request.opcode()) {
            case StoreProtocol.SET -> contents.set(request.keys().getFirst(), request.values().getFirst());
            case StoreProtocol.MULTI_SET -> {
                for (int i = 0; i < request.keys().size(); i++) {
                    contents.set(request.keys().get(i), request.values().get(i));
                }
            }
            case StoreProtocol.APPEND -> contents.append(request.keys().getFirst(), request.values().getFirst());
            case StoreProtocol.COMPARE_SET ->
                answerValue(contents.compareSet(request.keys().getFirst(), request.values().getFirst(), request.values().getLast()));
            case StoreProtocol.GET -> answerStored(request.keys().getFirst());
            case StoreProtocol.MULTI_GET -> {
                for (String wanted : request.keys()) {
                    answerStored(wanted);
                }
            }
            case StoreProtocol.ADD -> answerLong(contents.add(request.keys().getFirst(), request.number()));
            case StoreProtocol.CHECK -> answerByte(contents.containsAll(request.keys()) ? StoreProtocol.READY : StoreProtocol.NOT_READY);
            case StoreProtocol.WAIT -> await(request);
            case StoreProtocol.CANCEL_WAIT -> {
                contents.forget(this, awaited);
                awaited.clear();
                answerByte(StoreProtocol.CANCELED);
            }
            case StoreProtocol.GETNUMKEYS -> answerLong(contents.size());
            case StoreProtocol.DELETE_KEY -> answerLong(contents.delete(request.keys().getFirst()) ? 1 : 0);
            case StoreProtocol.PING -> answers.add(buffer(Integer.BYTES).putInt((int) request.number()).flip());
            default -> throw new StoreRequest.Violation("opcode " + request.opcode() + " has no place here");
        }
    }

    private void await(StoreRequest request) {
        for (String wanted : request.keys()) {
            if (contents.get(wanted) == null && awaited.add(wanted)) {
                contents.awaitedBy(this, wanted);
            }
        }
        if (awaited.isEmpty()) {
            answerByte(StoreProtocol.READY);
        }
    }

    /** Called when a key that this client waits for is there. */
    void arrived(String arrived) {
        awaited.remove(arrived);
        if (awaited.isEmpty()) {
            answerByte(StoreProtocol.READY);
            try {
                flush();
            } catch (IOException e) {
                // The client is gone; its own next event says so to the server.
                answers.clear();
            }
        }
    }

    private void answerStored(String wanted) throws StoreRequest.Violation {
        byte[] value = contents.get(wanted);
        if (value == null) {
            // The protocol has no word for it: a client waits for a key before it gets it.
            throw new StoreRequest.Violation("it asked for key " + wanted + ", which is not stored, without waiting for it");
        }
        answerValue(value);
    }

    private void answerValue(byte[] value) {
        answers.add(buffer(Long.BYTES + value.length).putLong(value.length).put(value).flip());
    }

    private void answerLong(long number) {
        answers.add(buffer(Long.BYTES).putLong(number).flip());
    }

    private void answerByte(byte number) {
        answers.add(buffer(1).put(number).flip());
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Writes as much of the answers as the client takes, and goes on with requests when it has taken all. */
    void flush() throws IOException {
        while (!answers.isEmpty()) {
            channel.write(answers.toArray(ByteBuffer[]::new));
            while (!answers.isEmpty() && !answers.peek().hasRemaining()) {
                answers.remove();
            }
            if (!answers.isEmpty()) {
                key.interestOps(SelectionKey.OP_WRITE);
                return;
            }
        }
        key.interestOps(SelectionKey.OP_READ);
    }

    /** Serves what waited until the client had taken the answers before it. */
    void resume() throws IOException, StoreRequest.Violation {
        flush();
        serveComplete();
    }

    @Override
    public void close() {
        contents.forget(this, awaited);
        awaited.clear();
        try {
            channel.close();
        } catch (IOException e) {
            // Nothing is lost: the connection is over either way.
        }
    }

    @Override
    public String toString() {
        return peer;
    }
}
