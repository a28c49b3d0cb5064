"""Touches every hook of the agent in one short run; prints what must not depend on it."""

import gc
import os
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.data import DataLoader, TensorDataset


def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    with record_function("forward"):
        loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def main():
    torch.manual_seed(0)
    serving = nn.Linear(16, 2)
    total = sum(serving(torch.ones(1, 16)).shape[0] for _ in range(5))
    data = TensorDataset(torch.randn(96, 16), torch.randint(0, 2, (96,)))
    model = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data, batch_size=8, num_workers=1)
    for _ in range(2):
        for x, y in loader:
            loss = train_step(model, optimizer, x, y)
    gc.collect()
    child = os.fork()
    if child == 0:
        sys.exit(3)
    print("child", os.WEXITSTATUS(os.waitpid(child, 0)[1]), flush=True)
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        train_step(model, optimizer, x, y)
        prof.step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.pt")
        torch.save(model.state_dict(), path)
        torch.load(path)
    print("served", total, "loss %.5f" % loss.item(), flush=True)
    sys.setprofile(None)
    sys.exit(5)


if __name__ == "__main__":
    main()
