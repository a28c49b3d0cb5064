"""What a product of spectra saves of a filter with many taps that a convolution applies to signals, on a CPU.

conv1d of one channel with a filter of 32 to 8,192 taps and its form by Fourier transforms, with lengths that factor into small primes, take
turns: in inference and with the gradients of signals and filter. Prints for each what the shortest of the convolution's turns takes and
what the other saves of it: the limit and the price memory-bound/long-filter are read off it. The number of threads is an argument (2).
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F

TAPS = [32, 64, 128, 256, 512, 1024, 2048, 8192]
# Signals, numbers of each.
SIGNALS = [(16, 16000), (1, 160000), (64, 10000)]
ROUNDS = 4


def fast_length(n):
    while True:
        rest = n
        for prime in 2, 3, 5:
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 1


def direct(x, taps):
    return F.conv1d(x[:, None], taps[None, None])[:, 0]


def spectra(x, taps):
    n = fast_length(x.shape[-1])
    whole = torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(taps, n).conj(), n)
    return whole[..., : x.shape[-1] - len(taps) + 1]


def took(form, x, taps, train):
    x.grad = taps.grad = None
    start = time.perf_counter()
    with torch.set_grad_enabled(train):
        out = form(x, taps)
        if train:
            out.backward(torch.ones_like(out))
    return time.perf_counter() - start, out.detach()


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    torch.manual_seed(1)
    for n in TAPS:
        saved = []
        for count, length in SIGNALS:
            for train in False, True:
                x, taps = torch.randn(count, length, requires_grad=train), (torch.randn(n) / n).requires_grad_(train)
                times = [], []
                for _ in range(ROUNDS if n < 8192 else 2):
                    outs = []
                    for side, form in enumerate((direct, spectra)):
                        t, out = took(form, x, taps, train)
                        times[side].append(t)
                        outs.append(out)
                assert torch.allclose(*outs, atol=1e-3)
                own, share = min(times[0]), 1 - min(times[1]) / min(times[0])
                saved.append(share)
                size = "%4d taps, %2d x %6d, %s" % (n, count, length, "training" if train else "inference")
                print("%s: %8.2f ms, saves %4.0f %%" % (size, 1e3 * own, 100 * share), flush=True)
        print("%d taps: saved %.2f to %.2f, median %.2f" % (n, min(saved), max(saved), statistics.median(saved)))


main()
