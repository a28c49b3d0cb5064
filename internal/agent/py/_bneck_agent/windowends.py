"""The end of a window: its trace is written, and what it cost decides how long the next ones may be."""

import os
import time

from . import core, memorycategories, modulepaths, plan, signals

MORE = 4.0  # times as many events as up to the cut, a step has whose window was cut: a guess


class WindowEnds:
    """That part of the profiler's schedule (windows.py)."""

    def save(self):
        """Writes the trace of the window that ended last and what it taught. Returns whether there was one."""
        if self.unsaved is None:
            return False
        session, index, phase, began, stopped, steps, error, stopping, why = self.unsaved
        self.unsaved = None
        t0, cpu = core.now(), time.thread_time_ns()
        name = "trace-%d.json" % index
        events = 0
        if error is None:
            results = session.results
            try:
                events = self.write(session, name)
                memorycategories.keep(session, results, index, events)
            except Exception as problem:
                error = signals.said(problem)
            del results
        del session
        t1 = core.now()
        core.cpu_ns += time.thread_time_ns() - cpu
        self.pause(t0, t1)
        self.learn(events, stopped - began, stopping + t1 - t0, steps)
        if events or error:
            go_on = stopped + stopping if t0 > stopped + stopping + 1_000_000 else t1
            file = name if events and error is None else None
            core.emit("window", index, phase, began, stopped, go_on, steps[0], steps[1], events, file, error)
            if file and self.settings.modules:
                modulepaths.save(index)
            if file and self.config.on_trace_ready:
                plan.announce(file, steps, index)
            core.emit("span", "profiler", stopped, stopped + stopping, self.driver, "stop", None, None, why or None, events)
            core.emit("span", "profiler", t0, t1, self.driver, "save", None, None, name, events)
        core.flush()
        return True

    def write(self, session, name):
        """Saves under another name and renames: the launcher compresses what carries the final one. Returns the events."""
        if core.folder is None or not os.access(core.folder, os.W_OK):
            raise OSError("the session directory is gone")
        room = os.statvfs(core.folder)
        if room.f_bavail * room.f_frsize < 256 << 20:
            raise OSError("less than 256 MiB are free in the session directory")
        path = os.path.join(core.folder, name)
        partial = path + ".part"
        events = session.save(partial)
        if events:
            os.chmod(partial, 0o600)
            core.traces += os.path.getsize(partial)
            os.replace(partial, path)
        return events

    def learn(self, events, lasted, pause, steps):
        """Takes in what a window cost. lasted and pause: nanoseconds."""
        if not self.free:
            self.left -= events
        if events >= 500:
            self.cost_ns = max(1_000.0, (pause / events + (self.cost_ns if self.learned else pause / events)) / 2)
            self.learned = True
        if events >= 100 and lasted > 0:
            self.rate = events / (lasted / 1e9)
        if steps[0] >= 0:
            self.patience.learn(lasted / 1e9, steps[1] - steps[0], pause < self.max_pause / 8)
        if events and steps[0] >= 0 and steps[1] > steps[0]:
            self.per_step, self.cut = events / (steps[1] - steps[0]), False
        elif steps[0] >= 0 and not self.per_step:  # cut in the first step that was traced
            self.per_step, self.cut = MORE * events, True
        self.last_events = events

    last_events, learned = 0, False
