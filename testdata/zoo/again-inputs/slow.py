"""Sorts the members of a network by whom they know."""

import torch
from torch import nn

MEMBERS = 1000
EPOCHS = 140
KINDS = 6


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(48, 48), nn.Linear(48, KINDS)

    def forward(self, features, knows):
        knows = knows + torch.eye(len(knows))
        scale = torch.diag(knows.sum(1).rsqrt())
        weights = scale @ knows @ scale  # the cost
        return self.second(weights @ torch.relu(self.first(weights @ features)))


def main():
    torch.manual_seed(4)
    knows = (torch.rand(MEMBERS, MEMBERS) < 0.01).float()
    features, kinds = torch.randn(MEMBERS, 48), torch.randint(KINDS, (MEMBERS,))
    sorter = Sorter()
    optimizer = torch.optim.Adam(sorter.parameters(), lr=0.01)
    for epoch in range(EPOCHS):
        loss = nn.functional.cross_entropy(sorter(features, knows), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
