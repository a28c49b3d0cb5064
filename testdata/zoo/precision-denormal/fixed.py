"""Tells gestures from the spikes of a touch sensor, whose leaky traces are what a small network sees."""

import torch
from torch import nn

BATCHES = 55
TICKS = 12
LEAK = 0.6
BATCH, SIDE, KINDS = 24, 56, 6


class Skin:
    """Traces of spikes, which leak away from tick to tick."""

    def __init__(self):
        self.source = torch.Generator().manual_seed(5)
        self.traces = torch.rand(BATCH, 4, SIDE, SIDE, generator=self.source)

    def feel(self, kinds):
        for tick in range(TICKS):
            self.traces.mul_(LEAK)
            at = int(torch.randint(0, SIDE // 8, (), generator=self.source)) + tick
            for touched, kind in enumerate(kinds.tolist()):
                self.traces[touched, kind % 4, at : at + 4, at : at + 4 + kind] += 1.0
        return self.traces


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(4, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4), nn.Conv2d(12, 24, 3, padding=1), nn.ReLU())
        self.tell = nn.Linear(24, KINDS)

    def forward(self, traces):
        return self.tell(self.look(traces).amax((2, 3)))


def main():
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    skin, reader = Skin(), Reader()
    optimizer = torch.optim.SGD(reader.parameters(), lr=0.05)
    for _ in range(BATCHES):
        kinds = torch.randint(0, KINDS, (BATCH,))
        loss = nn.functional.cross_entropy(reader(skin.feel(kinds)), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
