"""What one table for all columns saves of a loop that looks up an embedding for each column, on a CPU.

The usual loop (a table and a lookup a column, one torch.cat) and one table with an offset for each column take turns, forward and backward.
Prints for each size what the loop takes and what the other saves of it: the price launch/columns is read off it. The number of threads is
an argument (1).
"""

import statistics
import sys
import time

import torch
from torch import nn

# Columns, rows of a table, width, batch.
SIZES = [(8, 100, 8, 64), (26, 1000, 16, 128), (60, 500, 8, 64), (26, 1000, 16, 1024), (40, 200, 4, 512), (12, 50, 32, 256)]
ROUNDS = 40


class Loop(nn.Module):
    def __init__(self, columns, rows, width):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(columns))

    def forward(self, x):
        return torch.cat([table(x[:, i]) for i, table in enumerate(self.tables)], 1)


class AtOnce(nn.Module):
    def __init__(self, columns, rows, width):
        super().__init__()
        self.table = nn.Embedding(columns * rows, width)
        self.register_buffer("offset", torch.arange(columns) * rows)

    def forward(self, x):
        return self.table(x + self.offset).flatten(1)


def took(model, x):
    model.zero_grad()
    start = time.perf_counter()
    model(x).sum().backward()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    saved = []
    for columns, rows, width, batch in SIZES:
        x = torch.randint(0, rows, (batch, columns))
        loop, once = Loop(columns, rows, width), AtOnce(columns, rows, width)
        took(loop, x), took(once, x)
        times = [(took(loop, x), took(once, x)) for _ in range(ROUNDS)]
        before, after = (statistics.median(side) for side in zip(*times))
        saved.append(1 - after / before)
        size = "%2d columns of %4d rows by %2d, batch %4d" % (columns, rows, width, batch)
        print("%s: %6.0f us, %3.0f %% less" % (size, before * 1e6, 100 * saved[-1]))
    print("median %.0f %%" % (100 * statistics.median(saved)))


if __name__ == "__main__":
    main()
