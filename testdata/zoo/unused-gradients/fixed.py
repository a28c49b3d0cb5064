"""The same with an encoder that needs no gradients."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

CLIPS = 1100
SAMPLES = 4096
BATCH = 16


class Clips(IterableDataset):
    def __iter__(self):
        source = torch.Generator().manual_seed(1)
        for _ in range(CLIPS):
            yield torch.randn(1, SAMPLES, generator=source), torch.randint(0, 12, (), generator=source)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        layers, width = [], 1
        for wider in (32, 64, 96, 128):
            layers += [nn.Conv1d(width, wider, 9, stride=2, padding=4), nn.BatchNorm1d(wider), nn.ReLU()]
            width = wider
        self.encoder = nn.Sequential(*layers)
        self.head = nn.Linear(width, 12)

    def forward(self, clips):
        return self.head(self.encoder(clips).mean(2))


def main():
    torch.manual_seed(0)
    tagger = Tagger()
    tagger.encoder.requires_grad_(False)
    optimizer = torch.optim.Adam(tagger.head.parameters(), lr=1e-3)
    for clips, tags in DataLoader(Clips(), batch_size=BATCH):
        loss = nn.functional.cross_entropy(tagger(clips), tags)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
