"""What matrix products that meet denormal numbers in a backward pass take beyond others of their shapes, beside what flushing them saves.

Attention whose scores are large is saturated: its weights are one and zero, and what goes back through them is next to nothing. Blocks of
attention go forward and backward with scores of several sizes, in processes of their own that flush denormal numbers or do not. Prints what
share of a step flushing saves, and what share the products that take more than twice as long as the fastest quarter of their shapes, or as
others of as much work in the forward pass, take beyond that: the price precision/denormal-products is the one by the other. The number of
threads is an argument (2).
"""

import statistics
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

PRODUCTS = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"}
STEPS, TRACED, ROUNDS = 4, 2, 3
SLOWER, FASTEST, LEAST = 2.0, 0.25, 8  # times the fastest quarter; that quarter; calls of the same shapes
ALIKE = 1.5  # times as much work, or as long in the forward pass, is as much


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, places, width = x.shape

        def split(t):
            return t.view(batch, places, self.heads, -1).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = (q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(x.shape))
        return x + self.narrow(F.gelu(self.wide(x)))


def build(width, heads, layers, size):
    torch.manual_seed(3)
    blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
    with torch.no_grad():
        for block in blocks:
            block.query.weight.mul_(size)
            block.key.weight.mul_(size)
    return blocks


def step(model, x):
    model.zero_grad()
    model(x).square().mean().backward()


def timed(model, x):
    began = time.perf_counter()
    for _ in range(STEPS):
        step(model, x)
    return (time.perf_counter() - began) / STEPS


def work(event):
    """The multiplications of a product."""
    a, b = event.input_shapes[-2:] if event.name != "aten::addmm" else event.input_shapes[1:3]
    return a[0] * a[1] * b[-1] * (a[2] if len(a) == 3 else 1)


def beyond(model, x):
    """The excess of slow products as a share of the operators' time in traced steps."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, record_shapes=True) as profile:
        for _ in range(TRACED):
            step(model, x)
    calls, forward, all_time = {}, {}, 0.0
    for event in profile.events():
        all_time += event.self_cpu_time_total
        if event.name in PRODUCTS:
            calls.setdefault((event.name, work(event), str(event.input_shapes)), []).append(event.time_range.elapsed_us())
            parent = event
            while parent is not None and not parent.name.startswith("autograd::engine"):
                parent = parent.cpu_parent
            if parent is None:
                forward.setdefault(work(event), []).append(event.time_range.elapsed_us())
    excess = 0.0
    for (_, multiplied, _), took in calls.items():
        if len(took) < LEAST:
            continue
        base = sorted(took)[int(FASTEST * len(took))]
        for other, alike in forward.items():
            if max(other, multiplied) <= ALIKE * min(other, multiplied):
                base = min(base, ALIKE * sorted(alike)[int(FASTEST * len(alike))])
        excess += sum(t - base for t in took if t > SLOWER * base)
    return excess / all_time


CASES = [(256, 4, 4, 64, 8), (512, 8, 6, 30, 6), (768, 12, 6, 30, 6), (384, 6, 4, 128, 4)]


def one(case, size, flushed):
    """A process of its own, since threads that computed before do not flush: prints seconds a step, and the excess where nothing is."""
    width, heads, layers, places, batch = CASES[case]
    torch.set_flush_denormal(flushed)
    model, x = build(width, heads, layers, size), torch.randn(batch, places, width)
    step(model, x)
    print("took", statistics.median(timed(model, x) for _ in range(ROUNDS)), 0.0 if flushed else beyond(model, x))


def main():
    if len(sys.argv) > 2:
        torch.set_num_threads(int(sys.argv[1]))
        return one(int(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "flushed")
    threads = sys.argv[1] if len(sys.argv) > 1 else "2"
    for case, (width, _, layers, places, batch) in enumerate(CASES):
        for size in (1, 2, 4, 8, 16):
            got = []
            for way in ("usual", "flushed"):
                command = [sys.executable, __file__, threads, str(case), str(size), way]
                out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
                got.append([float(n) for n in next(line for line in out.splitlines() if line.startswith("took")).split()[1:]])
            (took, share), (less, _) = got
            ratio = f"{(took - less) / took / share:.2f} of it" if share > 0.02 else "-"
            print(f"width {width}, {layers} blocks, {batch} x {places} places, scores x {size * size}: {1e3 * took:.0f} ms a step, "
                  f"{100 * (took - less) / took:.0f} % flushed, {100 * share:.0f} % beyond others: {ratio}", flush=True)


if __name__ == "__main__":
    main()
