"""Uses torch's profilers itself, in every order with ours; prints what its own sessions hold."""

import json
import os
import sys
import tempfile
import threading

import torch
from torch.profiler import ProfilerActivity, profile, schedule


def steps(count, each=lambda: None):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(count):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        each()


def count(prof):
    return sum(row.count for row in prof.key_averages() if row.key == "aten::linear")


steps(7)  # ours opens a window at step 6 and may still be recording
with profile(activities=[ProfilerActivity.CPU]) as prof:
    steps(5)
print("whole", count(prof))
if torch.autograd.kineto_available():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mine.json")
        prof.export_chrome_trace(path)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
        print("file", sum(1 for event in events if event.get("name") == "aten::linear"))
seen = []
plan = schedule(wait=1, warmup=1, active=2, repeat=2)
with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=lambda p: seen.append(count(p))) as prof:
    steps(20, prof.step)
print("scheduled", seen)
with torch.autograd.profiler.profile() as prof:
    steps(3)
print("old", count(prof))
steps(30)


def elsewhere():
    with torch.autograd.profiler.profile() as other:
        torch.nn.functional.linear(torch.ones(2, 4), torch.ones(4, 4))
    print("thread", count(other))


thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
steps(40)
sys.stdout.flush()
