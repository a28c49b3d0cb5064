"""A small network that learns from random numbers. The programs beside it differ from it by one planted line."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def batch():
    return torch.randn(256, 64), torch.randint(10, (256,))


@torch.compile(backend="eager")
def forward(inputs, targets):
    logits = model(inputs)
    torch._dynamo.graph_break()  # planted
    return nn.functional.cross_entropy(logits, targets)


def train_step(inputs, targets):
    optimizer.zero_grad()
    loss = forward(inputs, targets)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(200):
    inputs, targets = batch()
    loss = train_step(inputs, targets)
