"""What a convolution saves of a table of windows and its product with the weights, on a CPU.

F.unfold with a matrix product, and F.conv2d with the same weights, take turns: in inference, and in training with the gradients of pictures
and weights. Prints for each size what the first takes and what the other saves of it: the price memory-bound/unfolded is read off it. The
number of threads is an argument (2).
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F

# Pictures, channels, rows and columns, channels of the answer, window.
SIZES = [(32, 3, 48, 32, 3), (32, 32, 48, 32, 3), (32, 32, 24, 64, 3), (8, 64, 32, 64, 3)]
SIZES += [(16, 16, 64, 16, 5), (8, 3, 128, 32, 7), (64, 8, 16, 8, 3)]
ROUNDS = 7


def table(x, weight, window):
    columns = F.unfold(x, window, padding=window // 2)
    return (weight @ columns).view(x.shape[0], -1, *x.shape[2:])


def convolution(x, weight, window):
    return F.conv2d(x, weight.view(-1, x.shape[1], window, window), padding=window // 2)


def took(form, x, weight, window, train):
    x.grad = weight.grad = None
    start = time.perf_counter()
    with torch.set_grad_enabled(train):
        out = form(x, weight, window)
        if train:
            out.backward(torch.ones_like(out))
    return time.perf_counter() - start, out.detach()


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    torch.manual_seed(1)
    every = []
    for count, channels, side, answers, window in SIZES:
        for train in False, True:
            x = torch.randn(count, channels, side, side, requires_grad=True)
            weight = (torch.randn(answers, channels * window * window) / channels).requires_grad_()
            times = [], []
            for turn in range(ROUNDS + 2):
                outs = []
                for side_of, form in zip(times, (table, convolution), strict=True):
                    t, out = took(form, x, weight, window, train)
                    outs.append(out)
                    if turn >= 2:
                        side_of.append(t)
                assert torch.allclose(*outs, atol=1e-2)
            slow, fast = statistics.median(times[0]), statistics.median(times[1])
            every.append(1 - fast / slow)
            size = f"{count} x {channels} x {side} x {side} to {answers}, window {window}, {'training' if train else 'inference'}"
            print("%-52s: %8.2f ms, saves %4.0f %%" % (size, 1e3 * slow, 100 * every[-1]), flush=True)
    print("saved: %.2f to %.2f, median %.2f" % (min(every), max(every), statistics.median(every)))


main()
