"""Compares the agent's plan with torch.profiler.schedule over many combinations, step by step; prints those that differ, and how many."""

import inspect
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "py"))
from _bneck_agent import plan
from _bneck_agent.settings import Schedule  # noqa: E402
from torch.profiler import schedule  # noqa: E402

STEPS = 60
known = inspect.signature(schedule).parameters
values = {"wait": (0, 1, 3), "warmup": (0, 1, 2), "active": (1, 2, 4), "repeat": (0, 1, 3), "skip_first": (0, 1, 5)}
values["skip_first_wait"] = (0, 1)
names = [name for name in values if name in known]
combinations = differing = 0
for chosen in itertools.product(*[values[name] for name in names]):
    settings = dict(zip(names, chosen))
    ours, theirs = plan.Plan(plan.scheduled(Schedule(settings)), ""), schedule(**settings)
    actions = [theirs(step).name for step in range(STEPS)]
    begins, ends = [], []
    for step in range(STEPS):
        begins.append(ours.begins(step))
        ends.append(ours.ends(step))
    recorded = [action in ("RECORD", "RECORD_AND_SAVE") for action in actions]
    over = [step > 0 and actions[step - 1] == "RECORD_AND_SAVE" or not recorded[step] for step in range(STEPS)]
    combinations += 1
    if begins != recorded or ends != over:
        differing += 1
        print(settings, actions, begins, ends)
print(combinations, "combinations,", differing, "differ")
