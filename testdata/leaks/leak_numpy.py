"""Keeps the gradient of each step as an array, for a picture at the end, while texts of many lengths come and go."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(14)
rnn = nn.GRU(24, 48, batch_first=True)
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.01)
gradients: list[np.ndarray] = []
for _ in range(5000):
    x = torch.randn(8, int(torch.randint(4, 60, ())), 24)
    loss = rnn(x)[0].square().mean()
    optimizer.zero_grad()
    loss.backward()
    gradients.append(rnn.weight_ih_l0.grad.numpy().copy())  # kept
    optimizer.step()
print(np.stack(gradients).shape)
