"""Broadcast and allgather by raw driver calls between N processes: copies to peers, write-values and wait-values in stream order,
which is the least that the same bytes need. On several GPUs also copies to a peer, signal round trip and barrier, as vmm_limit.py and
vmm_barrier.py have them on one. usage: raw_collectives.py N [GPUS, 1 unless given]; prints "name value unit", a line each, on rank 0.
"""
import multiprocessing
import os
import socket
import sys
import time

from cuda.bindings import driver as cu

SIZES = [1024, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20]
ROUNDS, WARM_UP = 7, 2
PAD = 2 << 20
FD = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def done(answer):
    """The results of a call; its code must be 0."""
    code, *results = answer
    if int(code) != 0:
        raise RuntimeError(f"the driver answered {code}")
    return results[0] if len(results) == 1 else results


class Shared:
    """Memory of this rank and its mappings of the peers', by descriptors over unix sockets."""

    def __init__(self, size, device, sockets):
        self.size, self.device = size, device
        properties = cu.CUmemAllocationProp()
        properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = device
        properties.requestedHandleTypes = FD
        own = done(cu.cuMemCreate(size, properties, 0))
        descriptor = int(done(cu.cuMemExportToShareableHandle(own, FD, 0)))
        for one in sockets.values():
            socket.send_fds(one, [b"h"], [descriptor])
        self.own = self.mapped(own)
        self.peers = {}
        for peer, one in sockets.items():
            theirs = socket.recv_fds(one, 1, 1)[1][0]
            self.peers[peer] = self.mapped(done(cu.cuMemImportFromShareableHandle(theirs, FD)))
            os.close(theirs)
        os.close(descriptor)

    def mapped(self, handle):
        access = cu.CUmemAccessDesc()
        access.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = self.device
        access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        address = done(cu.cuMemAddressReserve(self.size, PAD, 0, 0))
        done(cu.cuMemMap(address, self.size, 0, handle, 0))
        done(cu.cuMemSetAccess(address, self.size, [access], 1))
        return int(address)


class Rank:
    def __init__(self, rank, ranks, device, sockets, meeting):
        self.rank, self.ranks, self.meeting = rank, ranks, meeting
        done(cu.cuInit(0))
        done(cu.cuCtxSetCurrent(done(cu.cuDevicePrimaryCtxRetain(done(cu.cuDeviceGet(device))))))
        self.pads = Shared(PAD, device, sockets)
        done(cu.cuMemsetD32(self.pads.own, 0, PAD // 4))
        self.data = Shared(SIZES[-1] * ranks, device, sockets)
        self.source = int(done(cu.cuMemAlloc(SIZES[-1])))
        self.stream = done(cu.cuStreamCreate(1))
        self.count = 0

    def write(self, peer, place=0):
        done(cu.cuStreamWriteValue32(self.stream, self.pads.peers[peer] + 4 * (self.rank + place), self.count, 0))

    def wait(self, peer, place=0):
        done(cu.cuStreamWaitValue32(self.stream, self.pads.own + 4 * (peer + place), self.count, 0))

    def copy(self, peer, size):
        done(cu.cuMemcpyDtoDAsync(self.data.peers[peer] + self.rank * size, self.source, size, self.stream))

    def copy_own(self, size):
        done(cu.cuMemcpyDtoDAsync(self.data.own + self.rank * size, self.source, size, self.stream))

    def allgather(self, size):
        self.count += 1
        for peer in self.data.peers:
            self.copy(peer, size)
        self.copy_own(size)
        for peer in self.data.peers:
            self.write(peer)
        for peer in self.data.peers:
            self.wait(peer)

    def broadcast(self, size):
        self.count += 1
        if self.rank == 0:
            for peer in self.data.peers:
                self.copy(peer, size)
            self.copy_own(size)
            for peer in self.data.peers:
                self.write(peer)
            for peer in self.data.peers:
                self.wait(peer)
        else:
            self.wait(0)
            self.write(0)

    def to_next(self, size):
        if self.rank == 0:
            self.copy(1, size)

    def round_trip(self, _):
        self.count += 1
        if self.rank == 0:
            self.write(1)
            self.wait(1)
        elif self.rank == 1:
            self.wait(0)
            self.write(0)

    def barrier(self, _):
        self.count += 1
        for peer in self.data.peers:
            self.write(peer)
        for peer in self.data.peers:
            self.wait(peer)

    def measure(self, name, operation, size):
        calls = 200 if size <= 1 << 20 else 10
        times = []
        for _ in range(ROUNDS):
            self.meeting.wait()
            start = time.perf_counter()
            for _ in range(calls):
                operation(size)
            done(cu.cuStreamSynchronize(self.stream))
            times.append((time.perf_counter() - start) / calls * 1e6)
        micros = sorted(times[WARM_UP:])[(ROUNDS - WARM_UP) // 2]
        if self.rank == 0:
            print(f"raw_{name}_{size}B {micros:.3f} us" + (f" {size / micros / 1e3:.1f} GB/s" if size > 1 << 20 else ""), flush=True)


def run(rank, ranks, devices, pairs, meeting):
    sockets = {peer: pairs[min(rank, peer), max(rank, peer)][rank > peer] for peer in range(ranks) if peer != rank}
    one = Rank(rank, ranks, rank % devices, sockets, meeting)
    if devices > 1:
        for size in (2 << 20, 64 << 20, 256 << 20):
            one.measure("copy_to_peer", one.to_next, size)
        one.measure("signal_round_trip", one.round_trip, 8)
        one.measure("barrier", one.barrier, 8)
    for size in SIZES:
        one.measure("broadcast", one.broadcast, size)
        one.measure("allgather", one.allgather, size)
    meeting.wait()


def main():
    ranks, devices = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    context = multiprocessing.get_context("fork")
    pairs = {(low, high): socket.socketpair() for low in range(ranks) for high in range(low + 1, ranks)}
    meeting = context.Barrier(ranks)
    processes = [context.Process(target=run, args=(rank, ranks, devices, pairs, meeting)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(200)
        if process.exitcode != 0:
            for other in processes:
                other.kill()
            sys.exit(f"a rank ended with {process.exitcode}")


main()
