"""PyTorch's symmetric memory beside ours, one rank a GPU: rendezvous, barrier, copies to a peer. Started by torchrun."""
import os
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm

MIB = 1 << 20


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    group = dist.group.WORLD.group_name

    def report(name, value, unit):
        if rank == 0:
            print(f"{name} {value:.2f} {unit}", flush=True)

    def timed(work, times):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for _ in range(5):
            work()
        torch.cuda.synchronize()
        start.record()
        for _ in range(times):
            work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / times / 1e3

    for mib in (2, 256):
        dist.barrier()
        begun = time.perf_counter()
        buffer = symm.empty(mib * MIB, dtype=torch.uint8, device="cuda")
        allocated = time.perf_counter()
        handle = symm.rendezvous(buffer, group)
        report(f"allocate_{mib}MiB", (allocated - begun) * 1e6, "us")
        report(f"rendezvous_{mib}MiB", (time.perf_counter() - allocated) * 1e6, "us")
    report("barrier", timed(lambda: handle.barrier(channel=0), 200) * 1e6, "us")
    peer = handle.get_buffer((rank + 1) % world, buffer.shape, buffer.dtype)
    source = torch.empty_like(buffer)
    for mib in (2, 64, 256):
        dist.barrier()
        torch.cuda.synchronize()
        if rank == 0:
            seconds = timed(lambda: peer[: mib * MIB].copy_(source[: mib * MIB]), 20)
            report(f"copy_{mib}MiB_one_sender", mib * MIB / seconds / 1e9, "GB/s")
    dist.barrier()
    dist.destroy_process_group()


main()
