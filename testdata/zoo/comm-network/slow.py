"""Two ranks learn a wide table and exchange all of it after every small batch."""

import torch
import torch.distributed as dist
from torch import nn

STEPS = 200
WIDTH = 1500


def exchange(parameters):
    for parameter in parameters:
        dist.all_reduce(parameter.grad)  # the cost
        parameter.grad /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        x, y = torch.rand(8, WIDTH), torch.randint(4, (8,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        exchange(list(model.parameters()))
        optimizer.step()
    dist.destroy_process_group()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
