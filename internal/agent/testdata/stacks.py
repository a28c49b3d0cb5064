"""cProfile, sys.setprofile and the agent's stacks: the program's own keep working."""

import cProfile
import io
import pstats
import sys

import torch


def steps(count):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(count):
        model(torch.ones(2, 4)).sum().backward()
        leaf()
        optimizer.step()


def leaf():
    return None


steps(7)
own = cProfile.Profile()
own.enable()
steps(20)
own.disable()
table = pstats.Stats(own, stream=io.StringIO())
print("calls of leaf", [value[0] for key, value in table.stats.items() if key[2] == "leaf"])
calls = []
sys.setprofile(lambda frame, event, argument: calls.append(1) if event == "call" and frame.f_code is leaf.__code__ else None)
steps(40)
kept = sys.getprofile() is not None
sys.setprofile(None)
print("profile function kept", kept, "calls", len(calls))
steps(100)
