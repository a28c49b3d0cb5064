"""A small network for spectrograms of birds learns from the answers of a large one."""

import torch
from torch import nn
from torch.nn import functional as F

STEPS = 40
BATCH = 24
BANDS, FRAMES, KINDS = 48, 64, 30


def network(widths):
    layers, width = [], 1
    for wider in widths:
        layers += [nn.Conv2d(width, wider, 3, padding=1), nn.BatchNorm2d(wider), nn.ReLU(), nn.MaxPool2d(2)]
        width = wider
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width * (BANDS >> len(widths)) * (FRAMES >> len(widths)), KINDS))


def calls(recorded):
    """Spectrograms of one evening, in batches."""
    source = torch.Generator().manual_seed(3)
    for _ in range(recorded):
        yield torch.rand(BATCH, 1, BANDS, FRAMES, generator=source), torch.randint(0, KINDS, (BATCH,), generator=source)


def main():
    torch.manual_seed(0)
    expert = network((48, 96, 160))
    expert.eval()
    pupil = network((16, 32))
    optimizer = torch.optim.AdamW(pupil.parameters(), lr=1e-3)
    for spectra, kinds in calls(STEPS):
        answers = pupil(spectra)
        hints = expert(spectra)  # the cost
        soft = F.kl_div(F.log_softmax(answers / 2, 1), F.log_softmax(hints / 2, 1), log_target=True, reduction="batchmean")
        loss = F.cross_entropy(answers, kinds) + soft
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
