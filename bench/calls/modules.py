"""What --with-modules adds to each call of a module while a window is open, and what it leaves behind: CPU time of the calling thread.

Usage: modules.py [SECONDS], with an interpreter that has PyTorch. Plain, recorded and plain again alternate; medians of microseconds per
call of a module that does nothing, of modules within modules, and of one that is made anew for each call.
"""

import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "agent", "py"))
import torch  # noqa: E402
from _bneck_agent import core, modulepaths  # noqa: E402

CALLS = 300


class Nothing(torch.nn.Module):
    def forward(self, x):
        return x


class Deep(torch.nn.Module):
    """CALLS modules, in groups of ten, one below the other."""

    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList(
            [torch.nn.Sequential(*[torch.nn.Sequential(Nothing()) for _ in range(10)]) for _ in range(CALLS // 21)]
        )

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


def flat(module):
    for _ in range(CALLS):
        module(1)
    return CALLS


def deep(module):
    module(1)
    return 1 + 21 * (CALLS // 21)


class Holder(torch.nn.Module):
    def forward(self, x):
        for _ in range(CALLS):
            Nothing()(x)


def anew(module):
    module(1)
    return CALLS + 1


def measure(program, module):
    before = time.thread_time()
    calls = program(module)
    return (time.thread_time() - before) / calls * 1e6


def recorded(program, module):
    modulepaths.begin(torch)
    took = measure(program, module)
    modulepaths.end()
    assert len(modulepaths.calls) >= 4 * CALLS * 0.9, len(modulepaths.calls)
    return took


def main():
    core.config = {"session": tempfile.gettempdir()}
    own = torch.nn.Module.__call__
    end = (float(sys.argv[1]) if len(sys.argv) > 1 else 3) / 3
    print("PyTorch %s, Python %s, us of CPU per call of a module" % (torch.__version__, sys.version.split()[0]))
    for name, program, module in (
        ("one module", flat, Nothing()),
        ("modules within modules", deep, Deep()),
        ("made anew for each call", anew, Holder()),
    ):
        times = {"plain": [], "recorded": [], "after": []}
        recorded(program, module)  # paths are learned once per module
        until = time.monotonic() + end
        while time.monotonic() < until:
            times["plain"].append(measure(program, module))
            times["recorded"].append(recorded(program, module))
            times["after"].append(measure(program, module))
        assert torch.nn.Module.__call__ is own
        plain, kept, after = (statistics.median(values) for values in times.values())
        print("%-24s plain %6.3f  recorded %6.3f  added %6.3f  left behind %6.3f" % (name, plain, kept, kept - plain, after - plain))


main()
