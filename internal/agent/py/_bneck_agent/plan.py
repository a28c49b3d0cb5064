"""Which steps are traced when the user says so: --schedule, by the rule of torch.profiler.schedule, and --schedule-py, by his function."""

import json
import os

from . import core, facts
from .settings import Schedule

# torch.profiler.ProfilerAction's names
NONE, WARMUP, RECORD, SAVE = "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"
ACTIONS = (NONE, WARMUP, RECORD, SAVE)


def scheduled(schedule):
    """The function from step number to action that torch.profiler.schedule, so called, is."""
    wait, warmup, active, repeat = schedule.wait, schedule.warmup, max(1, schedule.active), schedule.repeat
    skip, shift = schedule.skip_first, wait if schedule.skip_first_wait else 0
    cycle = wait + warmup + active

    def action(step):
        if step < skip:
            return NONE
        turn, place = divmod(step - skip + shift, cycle)
        if repeat and turn >= repeat:
            return None  # and never again
        if place < wait:
            return NONE
        if place < wait + warmup:
            return WARMUP
        return SAVE if place == cycle - 1 else RECORD

    return action


def from_file(place):
    """The function of "FILE:FUNC", whose result is a torch.profiler.ProfilerAction, or its name. FILE is executed once per process."""
    path, _, name = place.rpartition(":")
    space = {"__name__": "_bneck_schedule", "__file__": path, "__builtins__": __builtins__}
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), space)
    function = space[name]

    def action(step):
        answer = function(step)
        word = getattr(answer, "name", answer)
        if word not in ACTIONS:
            raise ValueError("%s: step %d: %r is not a ProfilerAction" % (os.path.basename(place), step, answer))
        return word

    return action


class Plan:
    """Asks for each step once, in order, as torch does: never ahead of the program, since a user's function may count its calls."""

    def __init__(self, action, name):
        self.action = action
        self.name = name  # as on the command line
        self.answers = []  # those given so far, each once
        self.asked = -1
        self.now = self.before = NONE
        self.over = False
        self.recorded = False

    def at(self, step):
        """(action of the step before, action of this one); steps in between, of which nobody asked, are asked for too."""
        while self.asked < step and not self.over:
            self.asked += 1
            answer = self.action(self.asked)
            self.over = answer is None
            self.before, self.now = self.now, answer or NONE
            if self.now not in self.answers:
                self.answers.append(self.now)
            self.recorded = self.recorded or self.now in (RECORD, SAVE)
        return self.before, self.now

    @core.hook("schedule-end")
    def ended(self):
        """At the program's end: says so if no step was recorded. One that failed has been said already."""
        if self.asked >= 0 and not self.recorded and not self.over:
            text = "%s: nothing was recorded: every step was %s; RECORD or RECORD_AND_SAVE records one"
            core.note("schedule-empty", text % (self.name, " or ".join(self.answers)))

    def begins(self, step):
        """Whether this step is recorded."""
        return self.at(step)[1] in (RECORD, SAVE)

    def ends(self, step):
        """Whether a window that is open ends before this step."""
        before, now = self.at(step)
        return before == SAVE or now not in (RECORD, SAVE)


def make(config):
    """The plan that the settings ask for; None for the agent's own. A schedule that cannot be used is said, and nothing is traced."""
    if config.schedule:
        return Plan(scheduled(Schedule(config.schedule)), "--schedule")
    if config.schedule_py:
        return Plan(guarded(config.schedule_py), "--schedule-py " + os.path.basename(config.schedule_py))
    return None


def guarded(place):
    """from_file, of which no error reaches the program."""

    def broken(error):
        text = "--schedule-py %s: %s: %s; nothing more is traced" % (os.path.basename(place), type(error).__name__, error)
        core.note("schedule-failed", text)

    try:
        action = from_file(place)
    except Exception as error:
        broken(error)
        return lambda step: None

    def ask(step):
        try:
            return action(step)
        except Exception as error:
            broken(error)
            return None

    return ask


@core.hook("trace-ready")
def announce(file, steps, cycle):
    """Tells the launcher, which runs the --on-trace-ready command, that a trace is whole: trace-<n>.ready beside it. steps: the first
    one traced and the one after the last."""
    told = {"file": file, "first_step": steps[0], "step": steps[1], "cycle": cycle, "rank": facts.rank_of()[0]}
    core.replace(os.path.join(core.folder, os.path.splitext(file)[0] + ".ready"), json.dumps(told).encode())
