"""Its on_trace_ready raises inside torch.profiler's step()."""

import torch
from torch.profiler import ProfilerActivity, profile, schedule


def refuse(prof):
    raise ValueError("not today")


model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
prof = profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=0, active=2, repeat=1), on_trace_ready=refuse)
prof.start()
for step in range(30):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    try:
        prof.step()
    except ValueError as error:
        print("step", step, error)
        break
for _ in range(60):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print("done")
