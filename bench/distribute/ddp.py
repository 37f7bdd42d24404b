"""The work of step.cpp with PyTorch's DistributedDataParallel over Gloo, for program.py. One of the processes that it
starts with RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT."""

import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def noise(shape, scale, seed):
    n = 1
    for d in shape:
        n *= d
    x = 43758.5453 * torch.sin(12.9898 * torch.arange(n, dtype=torch.float64) + seed)
    return (scale * (2 * (x - torch.floor(x)) - 1)).to(torch.float32).reshape(shape)


def network(width):
    widths = [784, width, width, 10]
    layers = []
    for l in range(3):
        linear = torch.nn.Linear(widths[l], widths[l + 1])
        with torch.no_grad():
            linear.weight.copy_(noise((widths[l], widths[l + 1]), 0.05, l).t())
            linear.bias.zero_()
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def time_steps(width, batch, steps):
    rank, size = dist.get_rank(), dist.get_world_size()
    net = DistributedDataParallel(network(width))
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, eps=1e-8)
    x = noise((batch, 784), 1, 3)[rank::size].contiguous()
    y = (torch.arange(batch) * 7 % 10)[rank::size].contiguous()

    def step():
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        return loss

    for _ in range(3):
        loss = step().detach() / size
        dist.all_reduce(loss)
        if rank == 0:
            print("loss %.6f" % loss.item())
    for _ in range(steps // 5 + 100):
        step()
    seconds = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    if rank == 0:
        print("step %.6f" % (1e3 * statistics.median(seconds)))


def time_sums():
    size = 4 << 10
    while size <= 32 << 20:
        x = torch.ones(size // 4)
        calls = min(max((16 << 20) // size, 4), 500)
        seconds = []
        for _ in range(5):
            dist.barrier()
            begin = time.perf_counter()
            for _ in range(calls):
                x.fill_(1)  # it sums in place
                dist.all_reduce(x)
            seconds.append((time.perf_counter() - begin) / calls)
        if dist.get_rank() == 0:
            print("sum %d %.3f" % (size, 1e6 * statistics.median(seconds)))
        size *= 8


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    time_steps(*map(int, sys.argv[1:4]))
    time_sums()
    dist.destroy_process_group()
