"""Trains with workers, gradient accumulation, validation and a checkpoint; prints what must not depend on the agent."""

import os
import sys
import tempfile
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(0)
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    accumulate = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    data = TensorDataset(torch.randn(320, 16), torch.randint(0, 2, (320,)))
    training = DataLoader(data, batch_size=16, shuffle=True, num_workers=workers)
    checking = DataLoader(data, batch_size=64, num_workers=workers)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        model.train()
        for index, (x, y) in enumerate(training):
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            if index % accumulate == accumulate - 1:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in checking)
        with tempfile.TemporaryDirectory() as folder:
            torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
        print("right", right, "loss %.6f" % loss.item())
    print("path", [entry for entry in sys.path if "bneck" in entry or entry.endswith("agent")], sys.argv)
    for thread in threading.enumerate()[1:]:
        thread.join(1)  # those of the last loader are ending
    print("threads", [type(thread).__name__ for thread in threading.enumerate()])
