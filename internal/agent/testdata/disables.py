"""Ends whatever profiler runs before it would start its own, as Lightning's PyTorchProfiler does."""

import torch

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _step in range(40):
    if torch.autograd._profiler_enabled():
        torch.autograd._disable_profiler()
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
print("done")
