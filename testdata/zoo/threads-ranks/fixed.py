"""Two ranks learn at once; each computes with its share of the cores."""

import os

import torch
import torch.distributed as dist
from torch import nn

STEPS = 60
WIDTH = 768


def share_of_cores(ranks):
    return max(len(os.sched_getaffinity(0)) // ranks, 1)


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(share_of_cores(dist.get_world_size()))  # the cost
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        x, y = torch.rand(256, WIDTH), torch.randint(9, (256,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        for parameter in model[-1].parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
    print(f"loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
