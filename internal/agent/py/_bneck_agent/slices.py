"""Windows of a program without steps: slices of time, one after the other, from the import of torch to the first step; every fourth records
shapes."""

from . import core, marks, ticker, waits

MAX_SLICES = 24
DETAIL = 4  # of so many slices the last one records shapes
SLICE_S = (0.05, 0.5)  # first and longest


class Slices:
    """That part of the profiler's schedule (windows.py)."""

    def begin_slices(self):
        """Traces from now on in slices of time, until there is a step."""
        if not self.over and not self.stepping and self.main() and not self.schedule:
            self.start(-1)
            ticker.start(self.slice_over, self.patience.slice(self.slice, self.window_events()))
            waits.install(self)

    def slice_over(self):
        """On the main thread, when a slice's time may be up: saves it and begins the next. Functions named by hand may exist by now."""
        if self.sliced() and (not self.stepping and not self.patience.over() or core.within_backward(self.torch_folder)):
            return
        marks.resolve()
        if self.sliced():
            self.end_slice("slice" if not self.stepping else "first step")  # which may be another thread's
        if self.stepping or self.over:
            ticker.stop()
            waits.leave()
            return
        self.start(-1)
        open_now = self.open is not None
        ticker.start(self.slice_over, self.patience.slice(self.slice, self.window_events(self.detail)) if open_now else SLICE_S[0])

    def sliced(self):
        """Whether a slice is open."""
        return self.open is not None and self.first < 0

    def end_slice(self, why):
        """Saves a slice, on the thread that began it, and decides how long the next one is."""
        had = self.count
        self.stop(why)
        if self.last_events == 0:
            self.count = had  # nothing was recorded and nothing written
        elif not self.over and (self.left <= 0 or (self.count >= MAX_SLICES and not self.whole)):
            self.finish_all()
        longest = SLICE_S[1] if not self.last_events else self.window_events() / 2 / max(self.rate, 1.0)
        self.slice = min(SLICE_S[1], 2 * self.slice, max(0.02, longest))
