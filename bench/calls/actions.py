"""What an action of a trainer costs: CPU time of the calling thread around actions that do nothing.

Usage: actions.py [RUNS]. Each run is 20,000 actions of 40 names; the median over the runs, in microseconds per action, of Lightning's
profiler.start and stop as the agent wraps them, and of methods of Hugging Face's and other trainers. "with a row" is an action of
20 us and more, which is written to the session by itself, in the time that this takes at a flush. The agent is loaded from this checkout.
"""

import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "agent", "py"))
from _bneck_agent import core, marks, trainers  # noqa: E402

ACTIONS = 20_000
NAMES = ["[Strategy]Some.action_%d" % number for number in range(40)]


class Silent:
    """A profiler that measures nothing, as Lightning's default."""

    def start(self, action):
        pass

    def stop(self, action):
        pass


class Windows:
    """A schedule between two windows."""

    open, edge, yielded, yielded_before, count = None, False, 0, 0, 3


class Trainer:
    def plain(self):
        pass

    def step(self):
        pass


def brackets(profiler):
    for number in range(ACTIONS):
        name = NAMES[number % len(NAMES)]
        profiler.start(name)
        profiler.stop(name)


def methods(method):
    for _ in range(ACTIONS):
        method()


def took(function, *arguments):
    before = time.thread_time()
    function(*arguments)
    core.flush()
    return (time.thread_time() - before) / ACTIONS * 1e6


def main():
    watched, trainer = Silent(), Trainer()
    marks.windows, trainers.KEPT = Windows(), 1 << 40
    trainers.watch_actions(watched)
    trainers.time_methods(Trainer, "Trainer", ("step",))
    pairs = {
        "profiler.start and stop": ((brackets, watched), (brackets, Silent())),
        "method": ((methods, trainer.step), (methods, trainer.plain)),
    }
    print("Python %s, us of CPU per action" % sys.version.split()[0])
    for shortest, rows in ((trainers.SHORT_NS, ""), (0, ", with a row")):
        trainers.SHORT_NS = shortest
        for name, (with_agent, plain) in pairs.items():
            costs = [took(*with_agent) - took(*plain) for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 15)]
            print("%-36s %6.2f" % (name + rows, statistics.median(costs)))
    assert trainers.sums[NAMES[0]][2] > 0 and core.folder and not core.broken and "rows_dropped" not in core.counters


with tempfile.TemporaryDirectory() as session:
    core.begin({"session": session})
    main()
