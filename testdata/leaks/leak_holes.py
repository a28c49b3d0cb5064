"""Reads a corpus into many small tensors, lets go of most, and then keeps what it says of each batch in the room that they left."""

import torch
from torch import nn

torch.manual_seed(11)
corpus = [torch.randn(24 + i % 2000) for i in range(240_000)]
corpus = [row for i, row in enumerate(corpus) if i % 90 == 0]
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
answers = []
for step in range(90000):
    x = torch.randn(64, 64)
    answer = model(x)
    loss = answer.square().mean() + corpus[step % len(corpus)].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    answers.append(answer.detach().clone())  # kept
print(len(answers), len(corpus))
