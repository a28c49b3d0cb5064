"""Tells stages of sleep from electrodes; each electrode has filters of its own, one electrode after another."""

import torch
from torch import nn

ELECTRODES = 24
FILTERS = 4
MOMENTS = 160
STEPS = 420
NIGHTS = 512
STAGES = 5


class Electrodes(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.ModuleList(nn.Conv1d(1, FILTERS, 11, padding=5) for _ in range(ELECTRODES))

    def forward(self, waves):
        heard = []
        for i, listen in enumerate(self.filters):
            heard.append(torch.tanh(listen(waves[:, i : i + 1])))  # the cost
        return torch.cat(heard, 1)


def main():
    torch.manual_seed(0)
    nights, stages = torch.randn(NIGHTS, ELECTRODES, MOMENTS), torch.randint(0, STAGES, (NIGHTS,))
    sleeper = nn.Sequential(
        Electrodes(),
        nn.AvgPool1d(8),
        nn.Conv1d(ELECTRODES * FILTERS, 32, 5, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(32, STAGES),
    )
    optimizer = torch.optim.SGD(sleeper.parameters(), lr=0.02)
    for step in range(STEPS):
        at = torch.randint(0, NIGHTS, (16,))
        loss = nn.functional.cross_entropy(sleeper(nights[at]), stages[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
