"""Exports profiles of its own by every way there is into the folder that its argument names; prints what they hold."""

import glob
import gzip
import json
import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def steps(count, each=lambda: None):
    for _ in range(count):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        each()


steps(10)
if torch.autograd.kineto_available():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=tensorboard_trace_handler(folder + "/board")) as prof:
        steps(12, prof.step)
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        steps(5)
    prof.export_chrome_trace(folder + "/packed.json.gz")
with torch.autograd.profiler.profile() as prof:
    steps(3)
prof.export_chrome_trace(folder + "/old.json")
steps(20)
for path in sorted(glob.glob(folder + "/**/*.json*", recursive=True)):
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    name = os.path.relpath(path, folder).split("/")[0]
    print(name, sum(1 for event in events if event.get("name") == "aten::linear"))
