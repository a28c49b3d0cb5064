"""Trains on a data set that counts how many rows were asked for, and says how many objects the garbage collector leaves out."""

import gc

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Counted(Dataset):
    asked = 0

    def __len__(self):
        return 160

    def __getitem__(self, i):
        Counted.asked += 1
        return torch.full((4,), float(i))


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
batches = 0
for x in DataLoader(Counted(), batch_size=8):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
    batches += 1
print(batches, Counted.asked, gc.get_freeze_count() > 1000)
