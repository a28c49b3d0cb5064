"""Hands batches of 3 MB over in shared memory that may be too small; the argument says how it fails."""

import os
import signal
import sys

import torch
from torch.utils.data import DataLoader, Dataset

HOW = sys.argv[1]


class Rows(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        if HOW == "bus":
            os.kill(os.getpid(), signal.SIGBUS)
        return torch.full((100_000,), float(i))


def gather(rows):
    return torch.stack(rows)


def total(loader):
    return sum(batch.sum().item() for batch in loader)


if HOW == "collate":
    loader = DataLoader(Rows(), batch_size=8, num_workers=1)
elif HOW == "bus":
    loader = DataLoader(Rows(), batch_size=1, num_workers=1)
elif HOW == "queue":
    loader = DataLoader(Rows(), batch_size=8, num_workers=1, collate_fn=gather, timeout=5)
if HOW == "caught":
    workers = 1
    while True:  # where the worker dies (PyTorch 2.4 and older), what is raised is a matter of when, and its end may be told of later
        try:
            print("again" if workers == 0 else "first", total(DataLoader(Rows(), batch_size=8, num_workers=workers)))
            break
        except (RuntimeError, OSError, EOFError):
            workers = 0
else:
    print(total(loader))
