package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * The bytes between a client and a server of PyTorch 2.11, as captured, replayed against our server and against our client. The
 * client's process id, which is in the greeting, and the queue commands, which are newer, are left out.
 */
class CaptureTest {
    /** One line of the capture: what was called, who sent (C or S), and what. */
    private record Segment(String call, char from, byte[] bytes) {}

    private static List<Segment> capture() throws Exception {
        List<Segment> segments = new ArrayList<>();
        try (InputStream file = CaptureTest.class.getResourceAsStream("/tcpstore-capture.txt")) {
            for (String line : new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                String call = line.substring(0, 40).strip();
                char kind = line.substring(40).strip().charAt(0);
                if ((kind == 'C' || kind == 'S') && !call.startsWith("queue")) {
                    segments.add(new Segment(call, kind, HexFormat.of().parseHex(line.substring(40).strip().substring(1).strip())));
                }
            }
        }
        assertThat(segments).hasSizeGreaterThan(40);
        return segments;
    }

    @Test
    void ourServerAnswersAsPyTorchsDid() throws Exception {
        try (TcpStoreServer server = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                StoreLimits.defaults());
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(5000);
            socket.setTcpNoDelay(true);
            for (Segment segment : capture()) {
                if (segment.from() == 'C') {
                    socket.getOutputStream().write(segment.bytes());
                    socket.getOutputStream().flush();
                } else {
                    assertThat(socket.getInputStream().readNBytes(segment.bytes().length)).as("answer to %s", segment.call())
                            .isEqualTo(segment.bytes());
                }
            }
            assertThat(socket.getInputStream().available()).as("bytes beyond the answers").isZero();
        }
    }

    @Test
    void ourClientAsksAsPyTorchsDid() throws Exception {
        List<Segment> segments = capture();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> script = threads.submit(() -> {
                try (Socket socket = listener.accept()) {
                    socket.setSoTimeout(5000);
                    InputStream in = socket.getInputStream();
                    OutputStream out = socket.getOutputStream();
                    byte[] greeting = in.readNBytes(10);
                    assertThat(HexFormat.of().formatHex(greeting, 0, 6)).as("the greeting").isEqualTo("00cef7853c0d");
                    out.write(greeting, 6, 4);
                    for (Segment segment : segments) {
                        if (segment.bytes().length == 10 && segment.bytes()[0] == StoreProtocol.VALIDATE || segment.bytes().length == 4) {
                            // The greeting, which has the process id; handled above.
                            continue;
                        }
                        if (segment.from() == 'C') {
                            assertThat(in.readNBytes(segment.bytes().length)).as("request of %s", segment.call())
                                    .isEqualTo(segment.bytes());
                            if (hasNoAnswer(segment)) {
                                // Ours asks something behind it, so that it knows when the value is stored.
                                assertThat(in.read()).as("after %s", segment.call()).isEqualTo(StoreProtocol.GETNUMKEYS);
                                out.write(new byte[8]);
                                out.flush();
                            }
                        } else {
                            out.write(segment.bytes());
                            out.flush();
                        }
                    }
                }
                return null;
            });
            try (TcpStore store = TcpStore.connect("127.0.0.1", listener.getLocalPort(), Duration.ofSeconds(5))) {
                callAsCaptured(store);
            }
            script.get();
        }
    }

    private static boolean hasNoAnswer(Segment segment) {
        byte opcode = segment.bytes()[0];
        return opcode == StoreProtocol.SET || opcode == StoreProtocol.APPEND || opcode == StoreProtocol.MULTI_SET;
    }

    /** Makes the captured calls in the captured order, and checks what they return. */
    private static void callAsCaptured(TcpStore store) {
        Duration soon = Duration.ofSeconds(2);
        store.announceWorker();
        store.set("k", bytes("abc"));
        assertThat(store.get("k", soon)).hasValue(bytes("abc"));
        assertThat(store.add("n", 5)).isEqualTo(5);
        assertThat(store.add("n", -2)).isEqualTo(3);
        assertThat(store.get("n", soon)).hasValue(bytes("3"));
        assertThat(store.check(List.of("k"))).isTrue();
        assertThat(store.check(List.of("k", "missing"))).isFalse();
        assertThat(store.waitFor(List.of("k", "n"), soon)).isTrue();
        assertThat(store.waitFor(List.of("missing"), Duration.ofMillis(50))).isFalse();
        assertThat(store.compareSet("k", bytes("abc"), bytes("xyz"))).isEqualTo(bytes("xyz"));
        assertThat(store.compareSet("k", bytes("abc"), bytes("zzz"))).isEqualTo(bytes("xyz"));
        assertThat(store.compareSet("new", bytes(""), bytes("v"))).isEqualTo(bytes("v"));
        assertThat(store.compareSet("none", bytes("e"), bytes("v"))).isEqualTo(bytes("e"));
        store.append("k", bytes("123"));
        assertThat(store.await(List.of("k", "n"), soon).orElseThrow()).containsExactly(bytes("xyz123"), bytes("3"));
        store.multiSet(List.of("a", "b"), List.of(bytes("1"), bytes("22")));
        assertThat(store.keyCount()).isEqualTo(6);
        assertThat(store.delete("a")).isTrue();
        assertThat(store.delete("a")).isFalse();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
