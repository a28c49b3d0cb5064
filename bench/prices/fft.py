"""What a length that factors into 2, 3, 5 and 7 saves of Fourier transforms at lengths with a large prime factor, on a CPU or a device.

Transforms of a drawn length and of the next longer multiple of four that has no other prime factors take turns, with the padding that
this takes: rfft, irfft and fft, in inference, and in training with the gradient of the input. Prints for each class of the largest prime
factor what the shortest of a length's turns takes, as other programs make turns longer, and what the other length saves of it: the price
memory-bound/fft-length and the limits FFTPrime and FFTLength are read off it. The number of threads is an argument (2), the seed another
(1), and the device the last one (cpu).
"""

import random
import statistics
import sys
import time

import torch

# Largest prime factors, from and to; a prime length is its own.
CLASSES = [(11, 13), (17, 23), (29, 43), (47, 61), (67, 127), (131, 997), (1009, 200_000)]
# Lengths, from and to.
LENGTHS = [(100, 300), (300, 1_000), (1_000, 2_500), (2_500, 6_000), (6_000, 15_000), (15_000, 60_000), (60_000, 200_000)]
# Numbers of a batch.
NUMBERS = [400_000, 2_000_000]
ROUNDS = 6
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
LARGER = 16 if DEVICE == "cuda" else 1  # times as many numbers


def largest_prime(n):
    p = 2
    while p * p <= n:
        if n % p:
            p += 1
        else:
            n //= p
    return n


def longer(n):
    n += -n % 4
    while largest_prime(n) > 7:
        n += 4
    return n


def drawn(primes, lengths):
    while True:
        n = random.randint(*lengths)
        if primes[0] <= largest_prime(n) <= primes[1]:
            return n


FORMS = {
    "rfft": (lambda x, n: torch.fft.rfft(x, n=n), lambda n: n, torch.float32),
    "irfft": (lambda x, n: torch.fft.irfft(x, n=n), lambda n: n // 2 + 1, torch.complex64),
    "fft": (lambda x, n: torch.fft.fft(x, n=n), lambda n: n, torch.complex64),
}


def took(form, x, n, train):
    x.grad = None
    synchronize()
    start = time.perf_counter()
    with torch.set_grad_enabled(train):
        out = form(x, n)
        if train:
            out.backward(torch.ones_like(out))
    synchronize()
    return time.perf_counter() - start


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def saves(name, n, batch, train):
    form, width, kind = FORMS[name]
    other = longer(n)
    # The spectrum of padded signals comes padded from the transform before it.
    given = {n: width(n), other: width(other) if name == "irfft" else width(n)}
    sides = {length: torch.randn(batch, size, dtype=kind, device=DEVICE, requires_grad=True) for length, size in given.items()}
    times = {length: [] for length in sides}
    for turn in range(ROUNDS + 1):
        for length, x in sides.items():
            t = took(form, x, length, train)
            if turn >= 1:
                times[length].append(t)
    own = min(times[n])
    return own, 1 - min(times[other]) / own


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for primes in CLASSES:
        saved = []
        for lengths in LENGTHS:
            for numbers in NUMBERS:
                if primes[0] > lengths[1]:
                    continue
                n = drawn(primes, lengths)
                for name in FORMS:
                    for train in False, True:
                        own, share = saves(name, n, max(LARGER * numbers // n, 1), train)
                        saved.append(share)
                        size = "%6d (%5d), %5d of them" % (n, largest_prime(n), max(LARGER * numbers // n, 1))
                        size += ", %5s, %s" % (name, "training" if train else "inference")
                        print("%s: %8.2f ms, saves %3.0f %%" % (size, 1e3 * own, 100 * share), flush=True)
        tenths = statistics.quantiles(saved, n=10)
        said = "largest prime %d to %d: saved %.2f to %.2f" % (*primes, min(saved), max(saved))
        print("%s, median %.2f, tenths %.2f and %.2f" % (said, statistics.median(saved), tenths[0], tenths[-1]), flush=True)


main()
