"""Windows of a program without steps: slices of time from the import of torch to the first step; every fourth records shapes.

They follow one another as long as they cost little. A program of small operators pays four microseconds for each that is recorded, three
times what it takes; its slices lie apart, so that preparing a training does not take twice as long, and so that they see more of it.
"""

from . import core, marks, ticker, waits

MAX_SLICES = 24
DETAIL = 4  # of so many slices the last one records shapes
SLICE_S = (0.02, 0.5)  # first and longest
COST_NS = 300_000_000  # pauses that every run may have for slices; the first ones, up to one with shapes, have no limit
COST_SHARE = 0.08  # and beyond them, of the time since the first one
FOR_STEPS = 3  # one part of the budget of events in so many is kept for steps


class Slices:
    """That part of the profiler's schedule (windows.py)."""

    def begin_slices(self):
        """Traces from now on in slices of time, until there is a step."""
        if not self.over and not self.closed and not self.stepping and self.main() and not self.schedule:
            self.next_slice()
            waits.install(self)

    def next_slice(self):
        """Begins a slice, or waits until there is one to begin."""
        first = not self.first_slice
        if first:
            self.first_slice = core.now()
        free = self.whole or self.count < DETAIL
        rest = 0.0 if free else (self.spent - COST_NS) / COST_SHARE - (core.now() - self.first_slice)
        self.resting = rest > 0
        if self.resting:
            ticker.start(self.slice_over, rest / 1e9)
            return
        self.start(-1)
        if first:
            self.spent = 0  # torch's profiler made itself ready, which takes seconds on a device
        open_now = self.open is not None
        ticker.start(self.slice_over, self.patience.slice(self.slice, self.window_events(self.detail)) if open_now else SLICE_S[0])

    def slice_over(self):
        """On the main thread, when a slice's time may be up: saves it and begins the next. Functions named by hand may exist by now."""
        if self.sliced() and (not self.stepping and not self.patience.over() or core.within_backward(self.torch_folder)):
            return
        marks.resolve()
        if self.sliced():
            self.end_slice("slice" if not self.stepping else "first step")  # which may be another thread's
        if self.stepping or self.over or self.closed:
            self.leave_slices()
            return
        self.next_slice()

    def sliced(self):
        """Whether a slice is open."""
        return self.open is not None and self.first < 0

    def end_slice(self, why):
        """Saves a slice, on the thread that began it, and decides how long the next one is."""
        had = self.count
        self.stop(why)
        if self.last_events == 0:
            self.count = had  # nothing was recorded and nothing written
        elif not self.over and not self.whole and (self.left <= self.config.event_budget // FOR_STEPS or self.count >= MAX_SLICES):
            self.closed = True
            core.note("sliced", "time without steps is traced no longer, after %d slices" % self.count)
            self.leave_slices()
        longest = SLICE_S[1] if not self.last_events else self.window_events() / 2 / max(self.rate, 1.0)
        self.slice = min(SLICE_S[1], 2 * self.slice, max(0.02, longest))

    def leave_slices(self):
        """No slice follows."""
        self.resting = False
        ticker.stop()
        waits.leave()
