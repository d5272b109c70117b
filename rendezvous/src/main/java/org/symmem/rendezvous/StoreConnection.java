package org.symmem.rendezvous;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** One client of the store. Used by the store's thread alone. */
final class StoreConnection implements AutoCloseable {
    /**
     * Buffers of the store's thread, lent to one connection at a time. Their sizes are what a connection gets in one turn.
     *
     * @param in  what is read at once
     * @param out what is written at once
     */
    record Buffers(ByteBuffer in, ByteBuffer out) {
        static Buffers allocate() {
            return new Buffers(ByteBuffer.allocateDirect(16 << 10), ByteBuffer.allocateDirect(64 << 10));
        }
    }

    /** What a client must send next before it is served. */
    private enum Greeting {
        VALIDATE, NUMBER, PROOF, DONE
    }

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final SelectionKey key;
    private final StoreContents contents;
    private final StoreLimits limits;
    private final Buffers buffers;
    private final String peer;
    private final Optional<StoreToken> token;
    private final long since = System.nanoTime();
    private StoreRequestReader reader;
    private final StoreAnswers answers = new StoreAnswers();
    private Set<String> awaited = Set.of();
    /** What has arrived and must wait until the client has taken its answers; at most one turn's. */
    private ByteBuffer unserved = NOTHING;
    private long underWay;
    private Greeting greeting = Greeting.VALIDATE;
    private byte[] clientNumber = {};
    private byte[] storeNumber = {};

    StoreConnection(SocketChannel channel, SelectionKey key, StoreContents contents, StoreLimits limits, Optional<StoreToken> token,
            Buffers buffers) throws IOException {
        this.channel = channel;
        this.key = key;
        this.contents = contents;
        this.limits = limits;
        this.buffers = buffers;
        this.peer = String.valueOf(channel.getRemoteAddress());
        this.token = token;
        // Whoever has not greeted can make the store hold no more than a greeting.
        this.reader = new StoreRequestReader(limits.ofGreeting());
    }

    /** {@return whether the client has greeted as it must} */
    boolean hasGreeted() {
        return greeting == Greeting.DONE;
    }

    /** {@return when the client connected, in nanoseconds} */
    long since() {
        return since;
    }

    /** Reads once and serves what is complete. {@return false if the client has closed} */
    boolean read() throws IOException, StoreRequest.Violation {
        ByteBuffer in = buffers.in().clear();
        if (channel.read(in) < 0) {
            return false;
        }
        serve(in.flip());
        return true;
    }

    /** Writes once, and serves what waited until the client had taken the answers before it. */
    void resume() throws IOException, StoreRequest.Violation {
        flush();
        if (answers.bytes() == 0) {
            ByteBuffer in = unserved;
            unserved = NOTHING;
            serve(in);
        }
    }

    /** Serves requests while the client takes the answers: one that does not read gets no more served, so answers cannot pile up. */
    private void serve(ByteBuffer in) throws IOException, StoreRequest.Violation {
        while (answers.bytes() < buffers.out().capacity()) {
            StoreRequest request = reader.next(in);
            if (request == null) {
                break;
            }
            serve(request);
        }
        account();
        if (in.hasRemaining()) {
            unserved = ByteBuffer.allocate(in.remaining()).put(in).flip();
        }
        if (answers.bytes() > 0) {
            flush();
            if (unserved.hasRemaining()) {
                // Goes on in a turn of its own, also if the client took everything.
                key.interestOps(SelectionKey.OP_WRITE);
            }
        }
    }

    /** Tells the store what this client makes it hold besides keys and values, which has a limit over all clients. */
    private void account() throws StoreRequest.Violation {
        long now = reader.heldBytes() + awaited.stream().mapToLong(String::length).sum();
        contents.underWay(now - underWay);
        underWay = now;
    }

    private void serve(StoreRequest request) throws StoreRequest.Violation {
        if (greeting != Greeting.DONE) {
            greet(request);
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
            case StoreProtocol.COMPARE_SET -> answers.addValue(
                    contents.compareSet(request.keys().getFirst(), request.values().getFirst(), request.values().getLast()));
            case StoreProtocol.GET, StoreProtocol.MULTI_GET -> {
                for (String wanted : request.keys()) {
                    answerStored(wanted);
                }
            }
            case StoreProtocol.ADD -> answers.addLong(contents.add(request.keys().getFirst(), request.number()));
            case StoreProtocol.CHECK ->
                answers.addByte(contents.containsAll(request.keys()) ? StoreProtocol.READY : StoreProtocol.NOT_READY);
            case StoreProtocol.WAIT -> await(request);
            case StoreProtocol.CANCEL_WAIT -> {
                forgetWait();
                answers.addByte(StoreProtocol.CANCELED);
            }
            case StoreProtocol.GETNUMKEYS -> answers.addLong(contents.size());
            case StoreProtocol.DELETE_KEY -> answers.addLong(contents.delete(request.keys().getFirst()) ? 1 : 0);
            case StoreProtocol.PING -> answers.addInt((int) request.number());
            default -> throw new StoreRequest.Violation("opcode " + request.opcode() + " has no place here");
        }
    }

    private void await(StoreRequest request) {
        Set<String> missing = new HashSet<>();
        for (String wanted : request.keys()) {
            if (contents.get(wanted) == null && missing.add(wanted)) {
                contents.awaitedBy(this, wanted);
            }
        }
        awaited = missing;
        if (missing.isEmpty()) {
            answers.addByte(StoreProtocol.READY);
        }
    }

    private void greet(StoreRequest request) throws StoreRequest.Violation {
        if (greeting == Greeting.VALIDATE) {
            if (request.opcode() != StoreProtocol.VALIDATE || request.number() != StoreProtocol.MAGIC) {
                throw new StoreRequest.Violation("it does not begin as a client of the store does");
            }
            greeting = token.isPresent() ? Greeting.NUMBER : Greeting.DONE;
        } else {
            authenticate(request, token.orElseThrow());
        }
        if (greeting == Greeting.DONE) {
            reader = new StoreRequestReader(limits);
        }
    }

    private void authenticate(StoreRequest request, StoreToken secret) throws StoreRequest.Violation {
        if (request.opcode() != StoreProtocol.AUTHENTICATE) {
            throw new StoreRequest.Violation("it does not say that it knows the job's token; PyTorch's clients know none");
        }
        byte[] value = request.values().getFirst();
        if (greeting == Greeting.NUMBER) {
            if (value.length != StoreToken.NUMBER_BYTES) {
                throw new StoreRequest.Violation("it begins with a number of " + value.length + " bytes");
            }
            clientNumber = value;
            storeNumber = StoreToken.newNumber();
            answers.addValue(secret.answer(clientNumber, storeNumber));
            greeting = Greeting.PROOF;
        } else {
            if (!secret.proves(value, StoreToken.Side.CLIENT, clientNumber, storeNumber)) {
                throw new StoreRequest.Violation("it does not know the job's token");
            }
            answers.addByte(StoreProtocol.READY);
            greeting = Greeting.DONE;
        }
    }

    private void forgetWait() {
        contents.forget(this, awaited);
        awaited = Set.of();
    }

    /** Called when a key that this client waits for is there. */
    void arrived(String arrived) {
        awaited.remove(arrived);
        if (awaited.isEmpty()) {
            answers.addByte(StoreProtocol.READY);
            try {
                account();
                flush();
            } catch (IOException | StoreRequest.Violation e) {
                // The client is gone; its own next event says so to the server.
                answers.clear();
            }
        }
    }

    private void answerStored(String wanted) throws StoreRequest.Violation {
        byte[] value = contents.get(wanted);
        if (value == null) {
            // The protocol has no word for it: a client waits for a key before it gets it.
            throw new StoreRequest.Violation(
                    "it asked for key " + StoreRequest.printable(wanted) + ", which is not stored, without waiting for it");
        }
        if (answers.bytes() + value.length > limits.totalBytes()) {
            throw new StoreRequest.Violation("it asked for more than " + limits.totalBytes() + " bytes at once");
        }
        answers.addValue(value);
    }

    /** Writes once; the selector says when the client takes more. */
    private void flush() throws IOException {
        answers.writeOnce(channel, buffers.out());
        key.interestOps(answers.bytes() > 0 ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
    }

    @Override
    public void close() {
        forgetWait();
        contents.noMoreUnderWay(underWay);
        underWay = 0;
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
