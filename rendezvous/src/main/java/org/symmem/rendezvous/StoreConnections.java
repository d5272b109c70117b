package org.symmem.rendezvous;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A client's connections to one store. A request borrows an idle one or opens one, so that a thread that waits at the store blocks no
 * other. Any thread may use it.
 */
final class StoreConnections implements AutoCloseable {
    private final String host;
    private final int port;
    private final Deque<StoreClientConnection> idle = new ArrayDeque<>();
    private final Set<StoreClientConnection> open = new HashSet<>();
    private final Optional<StoreToken> token;
    private boolean closed;

    private StoreConnections(String host, int port, Optional<StoreToken> token) {
        this.token = token;
        this.host = host;
        this.port = port;
    }

    /** Opens the first, trying again while nobody listens. */
    static StoreConnections connect(String host, int port, Duration timeout, Optional<StoreToken> token) {
        StoreConnections connections = new StoreConnections(host, port, token);
        connections.giveBack(connections.added(StoreClientConnection.connect(host, port, timeout, token)));
        return connections;
    }

    /** {@return a connection that nobody else uses; to be given back or discarded} */
    StoreClientConnection borrow() {
        synchronized (this) {
            ensureOpen();
            // The last one used first: the others may go on idling.
            StoreClientConnection connection = idle.poll();
            if (connection != null) {
                return connection;
            }
        }
        return added(StoreClientConnection.connectAgain(host, port, token));
    }

    private StoreClientConnection added(StoreClientConnection connection) {
        synchronized (this) {
            if (!closed) {
                open.add(connection);
                return connection;
            }
        }
        connection.close();
        throw new IllegalStateException("closed: " + this);
    }

    synchronized void giveBack(StoreClientConnection connection) {
        if (!closed) {
            idle.push(connection);
        }
    }

    /** Closes one on which the next answer could be what is left of the last. */
    void discard(StoreClientConnection connection) {
        synchronized (this) {
            open.remove(connection);
        }
        connection.close();
    }

    synchronized void ensureOpen() {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    /** Closes all, also those in use: whoever waits on one gets an error. Closing twice is fine. */
    @Override
    public void close() {
        List<StoreClientConnection> all;
        synchronized (this) {
            closed = true;
            all = List.copyOf(open);
            open.clear();
            idle.clear();
        }
        all.forEach(StoreClientConnection::close);
    }

    @Override
    public String toString() {
        return "TcpStore[" + host + ":" + port + "]";
    }
}
