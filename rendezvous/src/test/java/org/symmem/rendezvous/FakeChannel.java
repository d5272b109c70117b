package org.symmem.rendezvous;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** A connection without a socket: what a test puts in comes out at the store, and what the store answers is counted. */
final class FakeChannel extends SocketChannel {
    private ByteBuffer toStore = ByteBuffer.allocate(0);
    private long answered;

    FakeChannel() {
        super(null);
    }

    void put(byte[] bytes, int from, int length) {
        toStore = ByteBuffer.wrap(bytes, from, length);
    }

    boolean isEmpty() {
        return !toStore.hasRemaining();
    }

    long answered() {
        return answered;
    }

    @Override
    public int read(ByteBuffer target) {
        int length = Math.min(target.remaining(), toStore.remaining());
        target.put(toStore.slice(toStore.position(), length));
        toStore.position(toStore.position() + length);
        return length;
    }

    @Override
    public int write(ByteBuffer source) {
        int length = source.remaining();
        source.position(source.limit());
        answered += length;
        return length;
    }

    @Override
    public SocketAddress getRemoteAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    /** A key that is registered nowhere. */
    SelectionKey key() {
        return new SelectionKey() {
            private int operations = OP_READ;

            @Override
            public SelectableChannel channel() {
                return FakeChannel.this;
            }

            @Override
            public Selector selector() {
                throw new UnsupportedOperationException();
            }

            @Override
            public boolean isValid() {
                return true;
            }

            @Override
            public void cancel() {
                // Registered nowhere.
            }

            @Override
            public int interestOps() {
                return operations;
            }

            @Override
            public SelectionKey interestOps(int wanted) {
                operations = wanted;
                return this;
            }

            @Override
            public int readyOps() {
                return operations;
            }
        };
    }

    @Override
    public SocketChannel bind(SocketAddress local) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T getOption(SocketOption<T> name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return Set.of();
    }

    @Override
    public SocketChannel shutdownInput() {
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() {
        return this;
    }

    @Override
    public Socket socket() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isConnected() {
        return true;
    }

    @Override
    public boolean isConnectionPending() {
        return false;
    }

    @Override
    public boolean connect(SocketAddress remote) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean finishConnect() {
        return true;
    }

    @Override
    public SocketAddress getLocalAddress() {
        return getRemoteAddress();
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void implCloseSelectableChannel() {
        // Holds nothing.
    }

    @Override
    protected void implConfigureBlocking(boolean block) {
        // Never blocks.
    }
}
