"""Learns from a file of small records in random order, which lies in memory."""

import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RECORDS = 6400
PIECES = 12
PIECE = 4096


def prepare(path):
    with open(path, "wb") as file:
        for _ in range(RECORDS * PIECES // 256):
            file.write(os.urandom(PIECE) * 256)
        file.flush()
        os.fsync(file.fileno())


class Records(Dataset):
    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY)

    def __len__(self):
        return RECORDS

    def take(self, piece):
        return os.pread(self.file, PIECE, piece * PIECE)  # the cost

    def __getitem__(self, i):
        data = bytearray()
        for k in range(PIECES):
            data += self.take((i * PIECES + k * 7919) % (RECORDS * PIECES))
        return torch.frombuffer(data, dtype=torch.uint8)[:PIECE].float(), i % 3


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records")
        prepare(path)
        model = nn.Sequential(nn.Linear(PIECE, 64), nn.ReLU(), nn.Linear(64, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        for x, y in DataLoader(Records(path), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
