"""What preparing a whole batch in one call, in a data set's __getitems__, saves of a fetch whose samples libraries prepare one by one.

Pictures by way of Pillow and torchvision, rows of pandas, and tensors that are indexed, in batches of several sizes, for a small and a
larger model, both ways in turns. The price input/prepared-at-once is what the whole loop saves over the time that it waited for data.
Prints that for each. The number of threads is an argument (2). Run it with the Python of scripts/env.sh public.
"""

import statistics
import sys
import time

import numpy
import pandas
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

SAMPLES = 4096
BATCHES = [16, 64, 256]
ROUNDS = 3


class Pictures(Dataset):
    """As torchvision's data sets have it: an array becomes a picture, then a tensor."""

    def __init__(self, size, channels):
        shape = (SAMPLES, size, size) if channels == 1 else (SAMPLES, size, size, channels)
        self.data = torch.randint(0, 256, shape, dtype=torch.uint8)
        self.channels = channels
        self.means = [0.5] * channels
        self.prepare = transforms.Compose([transforms.ToTensor(), transforms.Normalize(self.means, self.means)])

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        return self.prepare(Image.fromarray(self.data[i].numpy())), i % 10

    def batch(self, indices):
        x = self.data[indices]
        x = x[:, None] if self.channels == 1 else x.permute(0, 3, 1, 2)
        return x.float().div_(255).sub_(0.5).div_(0.5)


class Rows(Dataset):
    """A table whose rows pandas gives one by one."""

    def __init__(self, columns):
        self.data = pandas.DataFrame(numpy.random.rand(SAMPLES, columns).astype("float32"))

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        return torch.from_numpy(self.data.iloc[i].to_numpy()), i % 10

    def batch(self, indices):
        return torch.from_numpy(self.data.iloc[indices].to_numpy())


class Tensors(Dataset):
    """Numbers that are there as a tensor, scaled one by one."""

    def __init__(self, columns):
        self.data = torch.randint(0, 256, (SAMPLES, columns), dtype=torch.uint8)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        return (self.data[i].float() / 255 - 0.5) / 0.5, i % 10

    def batch(self, indices):
        return self.data[indices].float().div_(255).sub_(0.5).div_(0.5)


class AtOnce(Dataset):
    """The same data by whole batches; torch's own collate_fn still puts them together."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data)

    def __getitems__(self, indices):
        return list(zip(self.data.batch(indices), [i % 10 for i in indices]))


def trained(data, size, width):
    """Trains once through the data: the time of all, and that of waiting for batches."""
    loader = DataLoader(data, size, shuffle=True)
    model = torch.nn.Sequential(
        torch.nn.Flatten(),
        torch.nn.LazyLinear(width),
        torch.nn.ReLU(),
        torch.nn.Linear(width, width),
        torch.nn.ReLU(),
        torch.nn.Linear(width, 10),
    )
    model(next(iter(loader))[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    waited, start = 0.0, time.perf_counter()
    batches = iter(loader)
    while True:
        began = time.perf_counter()
        batch = next(batches, None)
        waited += time.perf_counter() - began
        if batch is None:
            return time.perf_counter() - start, waited
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
        optimizer.step()


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    every = []
    for name, data in [
        ("pictures of 28 x 28", Pictures(28, 1)),
        ("pictures of 32 x 32 x 3", Pictures(32, 3)),
        ("pictures of 96 x 96 x 3", Pictures(96, 3)),
        ("pandas, 20 columns", Rows(20)),
        ("tensors of 64", Tensors(64)),
        ("tensors of 4,096", Tensors(4096)),
    ]:
        for size in BATCHES:
            for width in (128, 1024):
                shares = []
                for _ in range(ROUNDS):
                    (single, waited), (whole, _) = trained(data, size, width), trained(AtOnce(data), size, width)
                    shares.append((single - whole) / waited)
                every += shares
                print(
                    "%-24s batch %3d, width %4d: %5.2f of the wait (%5.2f to %5.2f)"
                    % (name, size, width, statistics.median(shares), min(shares), max(shares))
                )
    every.sort()
    print("%d: %s" % (len(every), ", ".join("%.2f" % every[int(q * (len(every) - 1))] for q in (0, 0.1, 0.5, 0.9, 1))))


if __name__ == "__main__":
    main()
