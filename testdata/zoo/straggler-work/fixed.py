"""Two ranks learn together; the last one also ranks all its scores in Python."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = 228
SCORES = 35000
RANKING = False


def ranking(scores):
    best = []
    for score in scores.tolist():
        best.append((round(score, 3), len(best)))  # the cost
    return sorted(best)[-5:]


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    last = dist.get_rank() == dist.get_world_size() - 1
    for _ in range(STEPS):
        x, y = torch.rand(256, 128), torch.randint(10, (256,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if last and RANKING:
            ranking(torch.rand(SCORES))
    dist.destroy_process_group()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
