"""What a part of a tensor takes to be saved and loaded with all of it, beside a copy of the part, on two threads.

Prints for each size of the tensor and share of it what the copy saves, as a share of what the calls take, but for what they take for a
tensor of a few bytes, by the bytes that are not needed: the price io/views is read off it.
"""

import os
import statistics
import tempfile
import time

import torch

SIZES = (2, 4, 16, 64)  # MiB
SHARES = (0.5, 0.1, 0.01)
ROUNDS = 30


def took(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main():
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = os.path.join(folder, "part.pt")  # each time a new file
        for size in SIZES:
            for share in SHARES:
                whole = torch.rand(size << 18)
                part = whole[: int(len(whole) * share)]
                saves, loads = [], []
                for _ in range(ROUNDS):
                    tensors = (part, part.clone(), torch.ones(3))
                    row = []
                    for tensor in tensors:
                        row.append((took(lambda part=tensor: torch.save({"part": part}, path)), took(lambda: torch.load(path))))
                        os.remove(path)
                    saves.append([save for save, _ in row])
                    loads.append([load for _, load in row])
                text = []
                for name, rows in (("saving", saves), ("loading", loads)):
                    view, copy, few = (statistics.median(column) for column in zip(*rows))
                    price = (view - copy) / ((view - few) * (1 - share))
                    text.append(f"{name} {view * 1e3:.2f}, copied {copy * 1e3:.2f}, a few bytes {few * 1e3:.2f} ms: {price:.2f}")
                print(f"{share:.0%} of {size} MiB: {'; '.join(text)}", flush=True)


if __name__ == "__main__":
    main()
