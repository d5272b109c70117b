"""A Python rank among Java ranks in one store: the checks of org.symmem.interop.StoreRank, in the same order.

Uses PyTorch's own TCPStore and PrefixStore, or with --stand-in those of stand_in.py, which are not PyTorch's. Prints a line for
each check: check NAME RANK python ok, or FAILED and why. Needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; with --serve it also
serves the store, with --no-libuv by PyTorch's older server.
"""

import datetime
import os
import sys
import time
import traceback

STAND_IN = "--stand-in" in sys.argv
if STAND_IN:
    from stand_in import PrefixStore, TCPStore
else:
    from torch.distributed import PrefixStore, TCPStore

SOON = datetime.timedelta(seconds=20)
APPENDS = 25
LARGE = 1 << 20
RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])


def require(condition, otherwise):
    if not condition:
        raise AssertionError(otherwise)


def same(expected, found, what):
    require(expected == found, f"{what} is {found!r:.200}, not {expected!r:.200}")


def binary(of):
    return bytes([0, 10, 13, 0xFF, 0xC0, of, of * 7 + 1])


def of_all(prefix):
    return [f"{prefix}{peer}" for peer in range(WORLD)]


class Checks:
    def __init__(self, store):
        self.store = store
        self.failed = False

    def barrier(self, name):
        if self.store.add(f"barrier/{name}", 1) == WORLD:
            self.store.set(f"barrier/{name}/go", b"")
        self.store.wait([f"barrier/{name}/go"], SOON)

    def check(self, name, body):
        outcome = "ok"
        try:
            self.barrier(name)
            body()
        except Exception as error:
            traceback.print_exc()
            self.failed = True
            outcome = "FAILED " + repr(error).replace("\n", " ")
        print(f"check {name} {RANK} python {outcome}", flush=True)

    def all(self):
        self.check("set-get", self.set_and_get)
        self.check("add", self.add)
        self.check("wait", self.wait_for_each_other)
        self.check("compare-set", self.compare_set)
        self.check("append", self.append)
        self.check("multi", self.multi_set_and_get)
        self.check("delete", self.delete)
        self.check("key-count", self.count_keys)
        self.check("timeout", self.time_out)
        self.check("prefix", self.prefix)
        self.check("large", self.large)

    def set_and_get(self):
        self.store.set(f"set/{RANK}", binary(RANK))
        for peer in range(WORLD):
            same(binary(peer), self.store.get(f"set/{peer}"), f"the value of rank {peer}")

    def add(self):
        self.store.add("sum", RANK + 1)
        self.store.add("sum", -2 * (RANK + 1))
        self.barrier("added")
        expected = -WORLD * (WORLD + 1) // 2
        same(expected, self.store.add("sum", 0), "the sum")
        same(str(expected).encode(), self.store.get("sum"), "the sum as text")

    def wait_for_each_other(self):
        if RANK == 0:
            time.sleep(0.2)
        else:
            self.store.wait([f"late/{RANK - 1}"], SOON)
        self.store.set(f"late/{RANK}", b"now")
        self.store.wait(of_all("late/"), SOON)

    def compare_set(self):
        own = f"rank {RANK}"
        winner = self.store.compare_set("winner", "", own)
        self.store.set(f"winner/{RANK}", winner)
        for peer in range(WORLD):
            same(winner, self.store.get(f"winner/{peer}"), f"the winner that rank {peer} saw")
        same(b"e", self.store.compare_set(f"none/{RANK}", "e", own), "a missing key with an expectation")
        require(not self.store.check([f"none/{RANK}"]), "a refused compare-set stored its key")
        deadline = time.monotonic() + SOON.total_seconds()
        while self.store.compare_set("chain", "" if RANK == 0 else str(RANK), str(RANK + 1)) != str(RANK + 1).encode():
            require(time.monotonic() < deadline, "the chain of compare-sets did not come to this rank")
            time.sleep(0.005)
        self.barrier("chained")
        same(str(WORLD).encode(), self.store.get("chain"), "the chain's end")

    def append(self):
        for _ in range(APPENDS):
            self.store.append("log", f"{RANK};")
        self.barrier("appended")
        entries = self.store.get("log").decode().rstrip(";").split(";")
        same(APPENDS * WORLD, len(entries), "the entries of the log")
        for peer in range(WORLD):
            same(APPENDS, entries.count(str(peer)), f"the entries of rank {peer}")

    def multi_set_and_get(self):
        self.store.multi_set([f"multi/a/{RANK}", f"multi/b/{RANK}"], [binary(RANK), b""])
        self.barrier("multi is set")
        values = self.store.multi_get(of_all("multi/a/") + of_all("multi/b/"))
        same([binary(peer) for peer in range(WORLD)] + [b""] * WORLD, [bytes(value) for value in values], "the values")

    def delete(self):
        self.store.set(f"delete/{RANK}", b"x")
        self.barrier("there to delete")
        following = f"delete/{(RANK + 1) % WORLD}"
        require(self.store.check([following]), "the key to delete is missing")
        require(self.store.delete_key(following), "delete did not find the key")
        require(not self.store.delete_key(following), "delete found the key twice")
        require(not self.store.check([following]), "the deleted key is still there")

    def count_keys(self):
        before = self.store.num_keys()
        self.store.set(f"counted/{RANK}", str(before))
        # Nobody makes a key between the two barriers, also not by coming to the second.
        self.store.add("barrier/counted again", 0)
        self.barrier("counted")
        now = self.store.num_keys()
        require(now > before, f"the store had {before} keys and has {now} after more were set")
        self.store.set(f"counted/{RANK}", str(now))
        self.barrier("counted again")
        for peer in range(WORLD):
            same(str(now).encode(), self.store.get(f"counted/{peer}"), f"the keys that rank {peer} counted")

    def time_out(self):
        start = time.monotonic()
        try:
            self.store.wait([f"never/{RANK}"], datetime.timedelta(milliseconds=300))
        except RuntimeError:  # DistStoreError is one
            pass
        else:
            require(False, "a wait for a key that nobody sets came back")
        seconds = time.monotonic() - start
        require(0.29 <= seconds < 5, f"a wait of 300 ms took {seconds} s")
        same(1, self.store.add(f"after the timeout/{RANK}", 1), "the first request after a timeout")

    def prefix(self):
        inner = PrefixStore("1", PrefixStore("group", self.store))
        inner.set(f"k/{RANK}", binary(RANK))
        for peer in range(WORLD):
            same(binary(peer), inner.get(f"k/{peer}"), f"the value of rank {peer} by prefix")
            same(binary(peer), self.store.get(f"group/1/k/{peer}"), f"the value of rank {peer} by its whole name")

    def large(self):
        self.store.set(f"large/{RANK}", bytes([RANK + 1]) * LARGE)
        for peer in range(WORLD):
            value = self.store.get(f"large/{peer}")
            require(value == bytes([peer + 1]) * LARGE, f"the large value of rank {peer} is wrong")

    def leave(self, serves):
        self.store.set(f"left/{RANK}", b"")
        if serves:
            self.store.wait(of_all("left/"), SOON)


def main():
    serves = "--serve" in sys.argv
    more = {"use_libuv": False} if "--no-libuv" in sys.argv else {}
    # A server that waits for its workers returns only when each, the Java ones too, has said that it is here.
    tcp = TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        WORLD,
        serves,
        timeout=SOON,
        wait_for_workers=True,
        **more,
    )
    checks = Checks(PrefixStore("interop", tcp))
    checks.all()
    checks.leave(serves)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
