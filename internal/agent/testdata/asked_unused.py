"""A pupil learns from a teacher whose weights get gradients too; of two networks that learn, one's optimizer steps rarely."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(8, 4)
kept = []  # an object that goes may leave its id to another one


class Teacher(nn.Module):
    """Layers of which one is switched off."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 5), nn.Linear(5, 5), nn.Linear(5, 2)
        self.last.requires_grad_(False)

    def forward(self, batch):
        """Its answers."""
        return self.last(self.second(self.first(batch)))


def learn():
    """With a teacher that nobody teaches."""
    pupil, teacher = nn.Linear(4, 2), Teacher()
    optimizer = torch.optim.SGD(pupil.parameters(), lr=0.01)
    kept.append((pupil, teacher))
    for _ in range(3):
        optimizer.zero_grad()
        (pupil(x) - teacher(x)).square().mean().backward()
        optimizer.step()
    return float(pupil.weight.detach().sum())


def turns():
    """The second network's gradients gather for two steps."""
    first, second = nn.Linear(4, 3), nn.Linear(3, 3)
    often, rarely = torch.optim.SGD(first.parameters(), lr=0.01), torch.optim.SGD(second.parameters(), lr=0.01)
    for step in range(1, 5):
        often.zero_grad()
        second(first(x)).square().mean().backward()
        often.step()
        if step % 2 == 0:
            rarely.step()
            rarely.zero_grad()
    return float(second.weight.detach().sum())


print(round(learn(), 4), round(turns(), 4))
