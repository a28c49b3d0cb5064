"""Steps whose backward pass is Python for longer than a window waits for a step's end, and a profiler of the program's own at the end."""

import time

import torch


class Slow(torch.autograd.Function):
    """Goes backward in its own time."""

    seconds = 0.0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        until = time.monotonic() + Slow.seconds
        while time.monotonic() < until:
            sum(range(1000))
        return grad * 2


model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    Slow.seconds = 3.0 if step == 1 else 0.0
    Slow.apply(model(torch.ones(2, 4))).sum().backward()
    optimizer.step()
print("a profiler runs:", torch.autograd._profiler_enabled())
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
    model(torch.ones(2, 4))
print("linear", [row.count for row in prof.key_averages() if row.key == "aten::linear"])
