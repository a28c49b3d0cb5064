"""Ends while the ticker still runs: what is registered first for the end comes last, when the interpreter makes no more calls."""

import atexit
import sys
import time

import torch

if "_bneck_agent" in sys.modules:  # absent in the run that this one is compared with
    from _bneck_agent import life, ticker

    life.ended = True  # the agent's own end does not come before
    ticker.start(lambda: None, 0.005)
atexit.register(time.sleep, 0.3)
print(torch.ones(2).sum().item())
