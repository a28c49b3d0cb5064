"""Asks models that are given, or hold, a matrix of which nearly all is zero; and models of other matrices."""

import torch
from torch import nn

torch.manual_seed(0)
SIZE = 600


class Given(nn.Module):
    """Is given the matrix."""

    def forward(self, matrix, x):
        """Their product."""
        return matrix @ x


class Holds(nn.Module):
    """Holds the matrix."""

    def __init__(self, matrix):
        super().__init__()
        self.register_buffer("matrix", matrix)

    def forward(self, x):
        """Their product."""
        return self.matrix @ x


x = torch.rand(SIZE, 4)
graph, nothing, dense, exact, small = (
    torch.eye(SIZE),
    torch.zeros(SIZE, SIZE),
    torch.rand(SIZE, SIZE),
    torch.eye(SIZE).double(),
    torch.eye(60),
)
holds = Holds(torch.eye(SIZE))
apart = Holds(torch.rand(SIZE, SIZE).t())
for _ in range(2):
    print(float(Given()(graph, x).sum()))
    print(float(holds(x).sum()))
    print(float(Given()(torch.eye(SIZE), x).sum()))
    print(float(Given()(nothing, x).sum()))
    print(float(Given()(dense, x).sum()))
    print(float(Given()(exact, x.double()).sum()))
    print(float(Given()(small, x[:60]).sum()))
    print(float(apart(x).sum()))
