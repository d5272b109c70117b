"""A stand-in for PyTorch where it is not installed: this is NOT PyTorch, and what passes with it says nothing about PyTorch.

It speaks the same bytes (a capture of PyTorch 2.11 is the source) so that the Java side and interop/run are exercised everywhere:
TCPStore and PrefixStore with the methods that store_rank.py calls, and, as a program, the little of torchrun that a rank sees.
"""

import argparse
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

MAGIC = 0x3C85F7CE
SET, COMPARE_SET, GET, ADD, CHECK, WAIT, NUM_KEYS, DELETE, APPEND, MULTI_GET, MULTI_SET, CANCEL, PING = range(1, 14)


class DistStoreError(RuntimeError):
    pass


def string(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(value)) + value


def take(connection, count):
    data = bytearray()
    while len(data) < count:
        piece = connection.recv(min(count - len(data), 1 << 16))
        if not piece:
            raise ConnectionError("the other side closed the connection")
        data += piece
    return bytes(data)


def take_long(connection):
    return struct.unpack("<q", take(connection, 8))[0]


def take_string(connection):
    return take(connection, take_long(connection))


class Server:
    """Serves each connection by a thread of its own."""

    def __init__(self, host, port):
        self.values = {}
        self.changed = threading.Condition()
        self.listener = socket.create_server((host, port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection:
                if take(connection, 5) != struct.pack("<BI", 0, MAGIC):
                    return
                while True:
                    answer = self.answer(connection, take(connection, 1)[0])
                    if answer:
                        connection.sendall(answer)
        except (ConnectionError, KeyError):
            pass

    def put(self, key, value):
        with self.changed:
            self.values[key] = value
            self.changed.notify_all()

    def answer(self, connection, opcode):
        if opcode == PING:
            return take(connection, 4)
        if opcode == NUM_KEYS:
            return struct.pack("<q", len(self.values))
        if opcode == CANCEL:
            return b"\1"
        if opcode in (CHECK, WAIT, MULTI_GET):
            keys = [take_string(connection) for _ in range(take_long(connection))]
            if opcode == MULTI_GET:
                return b"".join(string(self.values[key]) for key in keys)
            if opcode == CHECK:
                return bytes([0 if all(key in self.values for key in keys) else 1])
            return self.wait(connection, keys)
        if opcode == MULTI_SET:
            for _ in range(take_long(connection)):
                self.put(take_string(connection), take_string(connection))
            return None
        key = take_string(connection)
        if opcode == SET:
            self.put(key, take_string(connection))
            return None
        if opcode == GET:
            return string(self.values[key])
        more = take(connection, 8) if opcode == ADD else take_string(connection) if opcode in (APPEND, COMPARE_SET) else b""
        desired = take_string(connection) if opcode == COMPARE_SET else b""
        with self.changed:
            now = self.values.get(key)
            if opcode == DELETE:
                return struct.pack("<q", 0 if self.values.pop(key, None) is None else 1)
            if opcode == APPEND:
                self.put(key, (now or b"") + more)
                return None
            if opcode == ADD:
                total = int(now or 0) + struct.unpack("<q", more)[0]
                self.put(key, str(total).encode())
                return struct.pack("<q", total)
            if opcode == COMPARE_SET:
                if (now is None and more == b"") or now == more:
                    self.put(key, desired)
                    return string(desired)
                return string(more if now is None else now)
        raise ConnectionError(f"opcode {opcode} is unknown")

    def wait(self, connection, keys):
        """Parked until the keys are there, or until the client cancels the wait."""
        connection.setblocking(False)
        try:
            while True:
                with self.changed:
                    if self.changed.wait_for(lambda: all(key in self.values for key in keys), 0.005):
                        return b"\0"
                try:
                    piece = connection.recv(1)
                    if piece != bytes([CANCEL]):
                        raise ConnectionError("the client is gone, or sent more while it waited")
                    return b"\1"
                except BlockingIOError:
                    pass
        finally:
            connection.setblocking(True)


class TCPStore:
    def __init__(self, host, port, world_size=None, is_master=False, timeout=None, wait_for_workers=True):
        self.server = Server(host, port) if is_master else None
        self.timeout = timeout
        deadline = time.monotonic() + timeout.total_seconds()
        while True:
            try:
                self.connection = socket.create_connection((host, port))
                break
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise DistStoreError("nobody listens")
                time.sleep(0.05)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        nonce = struct.pack("<I", os.getpid())
        self.connection.sendall(struct.pack("<BI", 0, MAGIC) + bytes([PING]) + nonce)
        if take(self.connection, 4) != nonce:
            raise DistStoreError("ping failed")
        if wait_for_workers and world_size:
            came = self.raw_add(b"init/", 1)
            while self.server and came < world_size:
                if time.monotonic() > deadline:
                    raise DistStoreError(f"{came} of {world_size} workers came")
                time.sleep(0.01)
                came = self.raw_add(b"init/", 0)

    def raw_add(self, key, delta):
        self.connection.sendall(bytes([ADD]) + string(key) + struct.pack("<q", delta))
        return take_long(self.connection)

    def ask(self, opcode, *strings):
        self.connection.sendall(bytes([opcode]) + b"".join(string(s) for s in strings))

    def ask_keys(self, opcode, keys):
        self.connection.sendall(bytes([opcode]) + struct.pack("<Q", len(keys)) + b"".join(string("/" + key) for key in keys))

    def set(self, key, value):
        self.ask(SET, "/" + key, value)

    def get(self, key):
        self.wait([key], self.timeout)
        self.ask(GET, "/" + key)
        return take_string(self.connection)

    def add(self, key, delta):
        return self.raw_add("/" + key, delta)

    def check(self, keys):
        self.ask_keys(CHECK, keys)
        return take(self.connection, 1) == b"\0"

    def wait(self, keys, timeout):
        self.ask_keys(WAIT, keys)
        self.connection.settimeout(timeout.total_seconds())
        try:
            answer = take(self.connection, 1)
        except TimeoutError:
            self.connection.settimeout(None)
            self.ask(CANCEL)
            answer = take(self.connection, 1)
            if answer == b"\0":
                take(self.connection, 1)
            else:
                raise DistStoreError(f"wait timeout after {timeout}, keys: {keys}") from None
        finally:
            self.connection.settimeout(None)

    def compare_set(self, key, expected, desired):
        self.ask(COMPARE_SET, "/" + key, expected, desired)
        return take_string(self.connection)

    def append(self, key, value):
        self.ask(APPEND, "/" + key, value)

    def multi_get(self, keys):
        self.wait(keys, self.timeout)
        self.ask_keys(MULTI_GET, keys)
        return [take_string(self.connection) for _ in keys]

    def multi_set(self, keys, values):
        pairs = b"".join(string("/" + key) + string(value) for key, value in zip(keys, values))
        self.connection.sendall(bytes([MULTI_SET]) + struct.pack("<Q", len(keys)) + pairs)

    def num_keys(self):
        self.ask(NUM_KEYS)
        return take_long(self.connection)

    def delete_key(self, key):
        self.ask(DELETE, "/" + key)
        return take_long(self.connection) > 0


class PrefixStore:
    def __init__(self, prefix, store):
        self.prefix = prefix
        self.store = store

    def __getattr__(self, name):
        method = getattr(self.store, name)
        if name == "num_keys":
            return method

        def with_prefix(key, *rest):
            return method([f"{self.prefix}/{k}" for k in key] if isinstance(key, list) else f"{self.prefix}/{key}", *rest)

        return with_prefix


def torchrun():
    """What a rank sees of torchrun --standalone: its variables, and a store that the agent serves."""
    parser = argparse.ArgumentParser(description="a stand-in for torchrun, not PyTorch's")
    parser.add_argument("--standalone", action="store_true")
    parser.add_argument("--no-python", action="store_true")
    parser.add_argument("--nproc-per-node", type=int, default=1)
    parser.add_argument("--max-restarts", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    agent = Server("127.0.0.1", 0)
    world = str(options.nproc_per_node)
    for restart in range(options.max_restarts + 1):
        ranks = []
        for rank in range(options.nproc_per_node):
            variables = {
                "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "GROUP_RANK": "0",
                "MASTER_ADDR": "localhost", "MASTER_PORT": str(agent.port), "TORCHELASTIC_USE_AGENT_STORE": "True",
                "TORCHELASTIC_RUN_ID": "stand-in", "TORCHELASTIC_RESTART_COUNT": str(restart),
                "TORCHELASTIC_MAX_RESTARTS": str(options.max_restarts),
            }
            ranks.append(subprocess.Popen(options.command, env={**os.environ, **variables}))
        while any(process.poll() is None for process in ranks) and not any(process.poll() for process in ranks):
            time.sleep(0.02)
        failed = [process for process in ranks if process.poll()]
        for process in ranks:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait()
        if not failed:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(torchrun())
