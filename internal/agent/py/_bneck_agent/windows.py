"""When torch's profiler runs: short windows between unprofiled steps, the same step numbers on every rank, within a budget of events.

Of a program without steps, slices of time instead, from the import of torch on. All decisions come from the step's number and, in
programs of one process, from the events that a step was seen to make.
"""

import _thread
import functools
import os
import threading
import time

from . import (
    core,
    facts,
    forks,
    memorycategories,
    modulepaths,
    modules,
    patience,
    plan,
    profiler,
    regions,
    signals,
    slices,
    ticker,
    waits,
    windowends,
)
from .padding import window_ended

FIRST_STEPS = (1, 6, 12)  # where the first windows begin; later ones at double the number of the one before
DETAIL = 4  # the number of this window, and of every third after one that did, records shapes
LONG_DETAIL = 3  # the same where steps are long: a program of few of them may end before the fourth window
LONG_STEP_NS = 100_000_000
MEMORY_DETAIL = 2  # the same where categories of memory are asked for, which short programs have too
STACK_SHIFT = 2  # a window with stacks has some four times as many events
MAX_WINDOWS = 11
HELD_EVENTS = 40_000  # most events that a window may hold: torch needs 1.6 KB for each while it stops, twice that with shapes
EVENT_RATE = 400_000.0  # events per second, at worst, while nothing is known
PESSIMISTIC_NS = 6_000.0  # stop and save, per event, until measured
SPENT_NS = 100_000_000  # pauses that every run may have for its windows of steps; the first ones, up to one with shapes, have no limit
SPENT_SHARE = 0.025  # and beyond them, of the time since the first step; a window for which this is too little waits for a later step
LATE_EVENTS_NS = 250_000_000  # a stop and a save that take longer together are made at two boundaries


class Windows(slices.Slices, windowends.WindowEnds):
    """The profiler's schedule in this process; all times in monotonic nanoseconds."""

    def __init__(self, torch, config):
        self.torch, self.config = torch, config
        self.torch_folder = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.settings = profiler.Settings(config)
        self.schedule = plan.make(config)
        self.whole = config.whole_run
        self.free = bool(self.schedule or self.whole)  # no budget of events
        self.left = config.event_budget
        self.max_pause = config.max_pause * 1e9
        self.max_bytes = config.max_bytes
        self.world = facts.rank_of()[2]
        self.lacks = profiler.lacking(torch, profiler.NEEDED)
        self.over = bool(config.no_trace or self.lacks) or not self.rank_wanted()
        self.count = 0  # traces so far
        self.planned, self.detailed = 0, -3  # windows of steps so far, and how many there were before the last with shapes
        self.number = 0
        self.next = FIRST_STEPS[0]
        self.open = None  # the running Session
        self.unsaved = None
        self.stepping = False
        self.since = 0  # when the first step began
        self.spent = 0  # ns of pauses since then
        self.cost_ns = PESSIMISTIC_NS
        self.per_step, self.cut = 0.0, False  # cut: none was traced to its end
        self.rate = EVENT_RATE
        self.slice = slices.SLICE_S[0]
        self.first_slice = 0  # when it began
        self.resting, self.closed = False, False  # whether the next slice waits, and whether none follows
        self.ever = False
        self.yielded = 0  # the program's own profilers that run now
        self.yielded_before = 0  # that ran when the step began
        self.clean = 0  # steps without any profiler
        self.edge = False
        self.patience = patience.Patience()
        self.changing = _thread.allocate_lock()  # held while a session starts, stops and is saved

    def rank_wanted(self):
        """Whether this rank's profiler runs at all."""
        rank = facts.rank_of()[0]
        if rank is None:
            return True
        ranks = self.config.ranks
        return rank in ranks if ranks else rank < self.config.max_ranks

    # The plan

    def window_events(self, detail=False):
        """How many events a window may hold so that stopping it is no long pause and needs no more than some 70 MB."""
        shift = detail + (STACK_SHIFT if detail and self.settings.categories else 0)
        return max(1000, min(self.left, int(0.6 * self.max_pause / self.cost_ns), HELD_EVENTS >> shift))

    def length(self, number, detail):
        """How many steps the window that begins with step `number` holds; detail: it records shapes."""
        longest = max(1, number // 6)
        if self.world > 1:
            return min(longest, 3)  # by the number alone: all ranks stop after the same step
        if self.per_step:
            longest = min(longest, max(1, int(self.window_events(detail) / 2 / self.per_step)))
        return 1 << (longest.bit_length() - 1)

    def after(self, number):
        """The step at which the next window begins, after one that began with step `number`."""
        if self.planned < len(FIRST_STEPS):
            return FIRST_STEPS[self.planned]
        return max(2 * number, FIRST_STEPS[-1] * 2)

    def wanted(self, number):
        """Whether a window begins with this step."""
        if self.whole:
            return True
        if self.schedule:
            wanted = self.schedule.begins(number)
            if self.schedule.over:
                self.finish_all()
            return wanted
        if number < self.next:
            return False
        if self.planned >= MAX_WINDOWS or self.left <= 0 or self.too_big():
            self.finish_all()
            return False
        # Jobs of several ranks decide by the number alone.
        return self.planned < DETAIL or self.world > 1 or self.spent <= SPENT_NS + SPENT_SHARE * (core.now() - self.since)

    def pause(self, t0, t1):
        """The program stood still for a window from t0 to t1."""
        core.paused(t0, t1)
        self.spent += t1 - t0

    def too_big(self):
        """Whether even one step has more events than may be stopped in one pause (a stop is two thirds of the cost) or held at once."""
        short = not self.learned or self.per_step * self.cost_ns * 0.67 <= self.max_pause
        if short and (self.free or self.per_step <= 1.5 * HELD_EVENTS):
            return False
        text = "one step makes %s%d profiler events: tracing it again would stop the program for too long or need too much memory"
        core.note("step-too-big", text % (("more than ", self.per_step / windowends.MORE) if self.cut else ("", self.per_step)))
        return True

    def phase(self, number):
        """What the step that runs is measured as. Steps under the program's own profiler are no baseline; where there is no other,
        they count as traced."""
        if self.open is not None and self.first >= 0:
            return "detail" if self.detail else "trace"
        if self.yielded or self.yielded_before:
            return "trace" if self.yielded and self.yielded_before and self.clean < 3 else "edge"
        self.clean += not self.edge
        return "edge" if self.edge else "baseline"

    # Steps

    def boundary(self, number, opening):
        """At a step's end (opening False) or beginning; returns the time if anything was done, else None."""
        if opening:
            self.yielded_before = self.yielded
        if self.changing.locked():
            return None  # by another thread, which goes on with what this one would read
        if self.idle():
            self.edge = False
            return None
        return self.planned_boundary(number, opening)

    @core.hook("boundary")
    def planned_boundary(self, number, opening):
        """The same as long as windows are planned, open or to be saved."""
        ticker.held = True
        try:
            return self.at_boundary(number, opening)
        finally:
            ticker.held = False
            if self.sliced():
                ticker.soon()  # on the main thread, which alone can end its slice

    def idle(self):
        """Whether nothing more is to be done at a step's end or beginning."""
        return self.over and self.unsaved is None and not self.open

    def at_boundary(self, number, opening):
        """Stops, saves and starts as the plan has it."""
        acted = False
        self.number = number
        self.patience.passed = core.now()
        if not self.stepping:
            self.stepping = True
            self.since, self.spent = core.now(), 0
            acted = self.stop("first step") or acted
            if self.open is None:
                self.leave_slices()
        if self.open is not None and (number >= self.end or self.schedule and self.schedule.ends(number) or self.whole and self.full()):
            self.end = min(self.end, number)
            acted = self.stop() or acted
        elif not opening:
            acted = self.save() or acted
        if opening:
            self.edge = self.edge_next
            self.edge_next = False
            if self.open is None and not self.over and self.wanted(number):
                self.start(number)
                acted = True
        return core.now() if acted else None

    edge_next, resume = False, False
    first, end, detail, began, driver = -1, -1, False, 0, 0

    def full(self):
        """Of a whole run: whether the running window has as many events as one stop may handle."""
        return (core.now() - self.began) / 1e9 * self.rate > self.window_events()

    def start(self, number):
        """Begins a window before step `number` (-1: a slice of a program without steps), unless another thread has begun one meanwhile."""
        if not self.changing.acquire(False):
            return
        try:
            if self.open is None and (number >= 0 or not self.stepping):
                self.begin(number)
        finally:
            self.changing.release()

    def begin(self, number):
        """Starts a session where one may be started."""
        if self.busy() or self.ever and not self.safe(number) or core.within_backward(self.torch_folder):
            return
        self.world = facts.rank_of()[2]
        if not self.rank_wanted():
            self.over = True
            return
        self.save()
        profiler.drain(self.torch)
        t = core.now()
        self.first = number
        by_rule = not self.whole and not self.schedule
        detail = MEMORY_DETAIL if self.settings.categories else DETAIL
        if self.world <= 1 and t - self.since >= LONG_STEP_NS * max(number, 1):  # ranks may not differ in what a window holds
            detail = min(detail, LONG_DETAIL)
        if number >= 0:
            self.detail = by_rule and self.planned >= max(detail - 1, self.detailed + 3)
            if self.detail:
                self.detailed = self.planned
        else:
            self.detail = by_rule and self.count % slices.DETAIL == slices.DETAIL - 1
        self.end = number + (1 << 40 if self.whole or self.schedule else self.length(number, self.detail)) if number >= 0 else -1
        self.driver = core.thread_id()
        try:
            session = profiler.Session(self.torch, self.settings, self.detail, stacks=not ticker.running)
            threads = 0 if self.ever else forks.threads()
            if session.keywords["with_stack"]:
                modules.aside()
            self.open = session  # first, so that nothing that comes in between leaves a session that nobody ends
            try:
                session.start()
            finally:
                modules.back()
            self.ever = True
            if self.settings.modules:
                modulepaths.begin(self.torch)
            forks.ever = True
            if threads:
                forks.own_threads = forks.threads() - threads
        except Exception as error:
            said = signals.said(error)
            self.open, self.over = None, True
            self.failed("start", said)
            core.emit("window", self.count, "trace", t, core.now(), core.now(), number, number, 0, None, said[:500])
            return
        self.began = core.now()
        self.pause(t, self.began)
        if not self.main():
            waits.at_thread_end(self.thread_ends)
        if number >= 0 and not self.schedule and (self.main() or patience.ELSEWHERE):
            events = self.window_events(self.detail)
            expected = 0.0 if self.rate == EVENT_RATE else 1.5 * events / max(self.rate, 1.0)
            looks = self.patience.begin(session.keywords["with_stack"], events, expected)
            if self.main():
                ticker.start(self.stale, looks)
            else:
                ticker.start(functools.partial(self.patience.elsewhere, self.driver, self.cut_window), looks, beside=True)

    def failed(self, what, said):
        """Says that torch refused, and in its words why."""
        then = "tracing is over" if self.over else "it is tried again without stacks"
        core.note("profiler-failed", "torch's profiler did not %s (%s): %s" % (what, said, then))

    def safe(self, number):
        """Whether a session may begin here: nothing that began within an earlier session still runs.

        An operator or region that ends in another session than it began in writes into freed memory (Kineto keeps a bare pointer). Regions
        are counted; operators that call Python show as frames of torch on the stack.
        """
        if regions.open_in_session:
            return False
        if not ticker.running and number >= 0:
            return True  # at a mark, which stands outside of operators
        return not core.within(self.torch_folder)

    def main(self):
        """Whether the calling thread is the main one, on which alone the ticker can act."""
        return _thread.get_ident() == threading.main_thread().ident

    def busy(self):
        """Whether somebody else profiles this thread, or there is no room."""
        if self.yielded or self.torch.autograd._profiler_enabled() or getattr(self.torch.autograd.profiler, "_is_profiler_enabled", False):
            self.yielded_note()
            return True
        if core.folder is None or core.traces > self.max_bytes:
            self.over = True
            return True
        return False

    noted = False

    def yielded_note(self):
        """Says once that the program profiles itself."""
        if not self.noted:
            self.noted = True
            core.note("program-profiles", "the program runs torch's profiler itself; ours waited meanwhile")

    def stop(self, why="", must=False):
        """Ends the running window if this thread began it. Returns whether there was one. Where PyTorch's engine has called the program,
        that waits unless it must be now: the engine gives a thread its state of before back after each function of a graph, and a session
        that has ended meanwhile would seem to run from then on, so that the program could begin none of its own."""
        session = self.open
        if session is None or core.thread_id() != self.driver or not must and core.within_backward(self.torch_folder):
            return False
        if not self.changing.acquire(False):
            return False
        try:
            self.close(session, why)
        finally:
            self.changing.release()
        return True

    def close(self, session, why):
        """Stops a session; its trace is saved now if that is no long pause."""
        ticker.stop()
        self.patience.ended()
        modulepaths.end()
        profiler.drain(self.torch)
        t0, cpu = core.now(), time.thread_time_ns()
        error = None
        try:
            session.stop()
        except Exception as problem:
            error = signals.said(problem)
            self.over = not (self.settings.stack or self.settings.categories)  # without stacks it may work
            self.settings.stack = self.settings.categories = False
            self.failed("stop", error)
        self.open, t1 = None, core.now()
        window_ended()
        core.cpu_ns += time.thread_time_ns() - cpu
        self.pause(t0, t1)
        self.edge_next, self.end = True, min(self.end, self.number)
        steps = (self.first, self.end) if self.first >= 0 else (-1, -1)
        self.unsaved = (session, self.count, "detail" if self.detail else "trace", self.began, t0, steps, error, t1 - t0, why)
        self.count += 1
        if self.first >= 0:
            self.planned += 1
            self.next = self.after(self.first)
        if error is not None or self.first < 0 or (t1 - t0) * 1.8 < LATE_EVENTS_NS:
            self.save()

    def stale(self):
        """On the main thread: cuts the window of a step that does not end."""
        if self.open is not None and self.patience.over():
            self.cut_window()

    def cut_window(self):
        """On the thread that began the window, in the middle of a step."""
        if self.open is not None and self.first >= 0:
            self.edge = True
            self.stop("cut")

    # Ends

    @core.hook("thread-ends")
    def thread_ends(self):
        """On a thread that ends while its window runs."""
        if self.open is not None and core.thread_id() == self.driver:
            self.stop("thread's end", must=True)
            self.save()

    def finish_all(self):
        """No window follows; the program runs at full speed."""
        if not self.over:
            self.over = True
            ticker.stop()
            waits.leave()
            core.note("measured", "tracing is over after %d windows" % self.count)

    @core.hook("profiler-end")
    def at_end(self):
        """At the process's end: an open session would crash it (2.15) or hang it (1.13 with stacks)."""
        self.over = True
        ticker.held = True
        ticker.stop()
        if self.open is not None and not self.stop("end", must=True):
            core.note("profiler-open", "the thread that was being traced is gone; its window is lost")
            forks.leave_abruptly()
        self.save()
        if self.schedule is not None:
            self.schedule.ended()

    @core.hook("profiler-fork")
    def before_fork(self):
        """Before os.fork: the window ends here, and the ticker's thread with it."""
        ticker.held = True
        slices = self.sliced()
        self.stop("fork", must=True)
        ticker.stop()
        self.save()
        self.resume = (slices or self.resting) and not self.stepping
        ticker.held = False

    @core.hook("profiler-forked")
    def after_fork(self):
        """In the parent, after os.fork: slices of a program without steps go on."""
        forks.in_parent()
        if self.resume:
            self.resume = False
            self.begin_slices()

    @core.hook("profiler-child")
    def forked(self):
        """In a forked child: begins anew, without what the parent had open."""
        ticker.lost()
        modulepaths.forked()
        memorycategories.forked()
        self.__init__(self.torch, self.config)
        self.resume = False

    @core.hook("profiler-yield")
    def yield_to_program(self):
        """The program starts its own profiler: ours ends first, and the two never meet."""
        if self.open is not None and core.thread_id() != self.driver:
            ticker.ask(self.yield_here)
        else:
            self.yield_here()
        self.yielded_note()

    def end_stacks(self):
        """The program takes the slot that a session with stacks uses."""
        if self.open is not None and self.open.keywords["with_stack"] and core.thread_id() == self.driver:
            self.yield_here()

    def yield_here(self):
        """Ends the window on the thread that began it."""
        ticker.held = True
        self.stop("yield", must=True)
        self.save()
        ticker.stop()
        ticker.held = False
