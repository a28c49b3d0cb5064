"""What two passes of a fixed filter, along rows and along columns, save of one with a square window over pictures.

A Gaussian filter is applied to each channel by conv2d with as many groups, whole and as two, in turns: for windows from 7 to 31 places, in
inference and with the gradient of the pictures. Prints for each window what the shortest of the whole one's turns takes and what two passes
save of it, as other programs make turns longer: the price memory-bound/separable is read off it. The device is an argument (cpu), and the
number of threads another (2).
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F

WINDOWS = [7, 9, 11, 15, 23, 31]
# Pictures, channels, rows, columns; on a device sixteen times as many pictures.
PICTURES = [(1, 3, 512, 512), (8, 3, 96, 96), (4, 1, 256, 256), (8, 3, 224, 224)]
ROUNDS = 5


def took(pictures, filters, device):
    pictures.grad = None
    synchronize(device)
    start = time.perf_counter()
    out = pictures
    for one in filters:
        out = F.conv2d(out, one, padding=(one.shape[2] // 2, one.shape[3] // 2), groups=one.shape[0])
    if pictures.requires_grad:
        out.backward(torch.ones_like(out))
    synchronize(device)
    return time.perf_counter() - start


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    torch.manual_seed(1)
    every = []
    for window in WINDOWS:
        saved = []
        for n, channels, rows, columns in PICTURES:
            for train in False, True:
                for kind in (torch.float32, torch.float16) if device == "cuda" else (torch.float32,):
                    size = (n * 16 if device == "cuda" else n, channels, rows, columns)
                    pictures = torch.rand(size, device=device, dtype=kind).requires_grad_(train)
                    g = torch.exp(-(torch.linspace(-2, 2, window) ** 2)).to(device, kind)
                    whole = [torch.outer(g, g).expand(channels, 1, -1, -1).contiguous()]
                    two = [g.view(1, 1, 1, -1).repeat(channels, 1, 1, 1), g.view(1, 1, -1, 1).repeat(channels, 1, 1, 1)]
                    times = [], []
                    for _ in range(ROUNDS):
                        for side, filters in enumerate((whole, two)):
                            times[side].append(took(pictures, filters, device))
                    own, share = min(times[0]), 1 - min(times[1]) / min(times[0])
                    saved.append(share)
                    said = "training" if train else "inference"
                    case = "%2d, %s, %s, %s" % (window, list(size), kind, said)
                    print("%s: %8.2f ms, saves %4.0f %%" % (case, 1e3 * own, 100 * share), flush=True)
        print("window %d: saved %.2f to %.2f, median %.2f" % (window, min(saved), max(saved), statistics.median(saved)), flush=True)
        every += saved
    tenths = statistics.quantiles(every, n=10)
    print("all %d: median %.2f, tenths %.2f and %.2f" % (len(every), statistics.median(every), tenths[0], tenths[-1]))


main()
