"""A loop of one's own with Accelerate: accelerated.py BATCHES-PER-STEP. Two epochs of 24 batches and 6 of validation."""

import sys

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=int(sys.argv[1]))
model = torch.nn.Linear(16, 2)
optimizer = torch.optim.AdamW(model.parameters())
train = DataLoader(TensorDataset(torch.ones(48, 16), torch.zeros(48, dtype=torch.long)), batch_size=2)
valid = DataLoader(TensorDataset(torch.ones(12, 16)), batch_size=2)
model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)
steps = 0
for _ in range(2):
    for x, y in train:
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
            optimizer.step()
            optimizer.zero_grad()
        steps += accelerator.sync_gradients
    with torch.no_grad():
        for (x,) in valid:
            accelerator.gather_for_metrics(model(x))
accelerator.print("steps", steps)
