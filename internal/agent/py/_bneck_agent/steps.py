"""Finds the steps of the program's loop from whatever marks it leaves; knows nothing of torch.

A mark of a stronger source ends the use of all weaker ones. Steps never overlap, each belongs to the thread that drives the
loop, and time between two loops (an epoch's end, the gap before a nested validation) belongs to no step.
"""

STRENGTH = {"period": 1, "dataloader": 2, "optimizer": 2, "trainer": 3, "profiler-step": 4, "mark": 5}
LOST_AFTER = 32  # marks of others after which a silent leader is given up
FIRST_HOLD = 64  # batches that may gather gradients before the program's first optimizer step


class Leader:
    """Of several things that repeat (two optimizers, two models), the one whose repetition is the step: the rarest."""

    def __init__(self):
        self.name, self.counts, self.others = None, {}, 0

    def leads(self, name):
        """Counts one repetition of name and says whether it ends a step."""
        if name == self.name and len(self.counts) == 1:
            self.others = 0
            return True  # nothing else has ever repeated
        if len(self.counts) > 64:
            self.counts.clear()
        self.counts[name] = self.counts.get(name, 0) + 1
        if self.name is None:
            self.name = name
        elif name != self.name:
            self.others += 1
            if self.others > LOST_AFTER:
                self.name, self.others, self.counts = name, 0, {}
        else:
            self.others = 0
            rarest = min(self.counts, key=self.counts.get)
            if self.counts[rarest] >= 2 and self.counts[rarest] * 2 <= self.counts[self.name]:
                self.name = rarest
        return name == self.name


class Step:
    """The step that runs. owner: the loader whose batch it works on, None where the optimizer's marks bound it."""

    __slots__ = ("t0", "source", "owner", "optimized", "items", "batches", "kind")

    def __init__(self, t0, source, owner=None, kind=None):
        self.t0, self.source, self.owner, self.kind = t0, source, owner, kind
        self.optimized, self.items, self.batches = False, 0, 0


class Loop:
    """One iteration over a loader. alone: the optimizer steps more than once per batch, so batches do not bound steps."""

    __slots__ = ("loader", "made", "batches", "given", "marks", "alone", "single")

    def __init__(self, loader, made):
        self.loader, self.made = loader, made
        self.batches, self.given, self.marks, self.alone, self.single = 0, 0, 0, False, False


class Steps:
    """Turns marks into steps.

    finish(number, kind, source, t0, t1, items, tid) is called for each step, then boundary(number, opening) where a step
    has ended or is about to begin: number is the next step's; it returns a new time if it took any, else None.
    """

    def __init__(self, finish, boundary):
        self.finish, self.boundary = finish, boundary
        self.number = 0
        self.current = None
        self.strength = 0
        self.driver = None
        self.idle_since = None
        self.optimizers = 0
        self.leader = Leader()
        self.loop = None
        self.trained = set()
        self.accumulation = None
        self.strangers = 0
        self.kinds = set()

    # Opening and closing

    def open(self, t, source, owner=None, kind=None):
        """Begins a step at t, or later if the boundary took time."""
        later = self.boundary(self.number, True)
        self.current = Step(later or t, source, owner, kind)

    def close(self, t, kind, source=None):
        """Ends the running step at t."""
        step, self.current = self.current, None
        if step is None or t < step.t0:
            return
        self.finish(self.number, kind, source or step.source, step.t0, t, step.items, self.driver)
        self.number += 1
        self.kinds.add(kind)
        self.idle_since = t
        self.boundary(self.number, False)

    def accepts(self, source, tid, force=False):
        """Whether a mark of this source on this thread counts now. The first of a stronger source drops the open step.

        force: the mark's thread drives the loop whatever the marks before it said.
        """
        strength = STRENGTH[source]
        if strength < self.strength:
            return False
        if strength > self.strength:
            self.strength, self.current, self.driver = strength, None, tid
        if tid != self.driver:
            self.strangers += 1
            if not force and self.strangers <= LOST_AFTER:
                return False
            self.driver, self.current, self.loop = tid, None, None
        self.strangers = 0
        return True

    # Marks by name: the strongest

    def manual(self, t, tid, source="mark", kind="train"):
        """A mark that begins a step and ends the one before."""
        if self.accepts(source, tid):
            if self.current is not None:
                self.close(t, self.current.kind or kind)
            self.open(t, source, kind=kind)

    def rest(self, t, tid, source):
        """A loop of named steps has ended."""
        if self.strength == STRENGTH[source] and tid == self.driver and self.current is not None:
            self.close(t, self.current.kind or "train")

    # Optimizers

    def optimizer_made(self):
        """The program trains: calls of modules no longer bound steps."""
        self.optimizers += 1

    def optimized(self, name, t, tid):
        """An optimizer (or, where there is none, a backward pass) has finished."""
        if not self.optimizers and self.strength == 2 and tid == self.driver:
            if self.current is not None:
                self.current.optimized = True  # weights are updated by hand, batches bound the steps
            return
        source = "optimizer" if self.optimizers else "period"
        if not self.accepts(source, tid, force=self.leader.name is None):
            return
        leads = self.leader.leads(name)
        if self.current is None:
            self.current = Step(self.idle_since if self.idle_since is not None else t, source, self.owner_now())
        step = self.current
        step.optimized = True
        loop = self.loop
        if loop is not None and step.owner is not None and not loop.alone:
            self.trained.add(step.owner)
            loop.marks += leads
            if not (leads and loop.marks >= 2 and loop.batches == 1):
                return
            loop.alone = True  # one batch, many steps: the batch was only fetched once
            step.owner = None
        if leads:
            self.close(t, "train", source)
            self.open(t, source)

    def owner_now(self):
        """The loader being iterated, if batches bound steps."""
        return self.loop.loader if self.loop is not None and not self.loop.alone else None

    # Loaders

    def batch_wanted(self, loop, t, tid, grad):
        """A loader is asked for its next batch; grad: whether gradients are recorded."""
        source = "optimizer" if self.optimizers else "dataloader"
        if not self.accepts(source, tid):
            return
        step = self.current
        if step is not None and step.owner not in (None, loop.loader) and loop.made < step.t0:
            return  # a second loader of the same loop (zip)
        loop.batches += 1
        t = loop.made if loop.batches == 1 and loop.single else t
        if step is not None and step.owner == loop.loader:
            self.same_loader(step, loop, t, grad)
        elif step is not None and step.owner is None and (loop.loader in self.trained or (grad and self.optimizers and step.optimized)):
            step.owner = loop.loader
            loop.alone = False
        else:
            self.other_loader(step, loop, t)
        self.loop = loop
        if self.current is not None and loop.batches > 1:
            loop.alone = False
            self.current.owner = loop.loader
        loop.marks = 0

    def same_loader(self, step, loop, t, grad):
        """The batch before this one is done, unless it only gathered gradients."""
        if step.optimized:
            self.accumulation = max(self.accumulation or 1, step.batches)
            self.end_batch(step, loop, t, "train")
        elif not self.optimizers:
            self.end_batch(step, loop, t, "inference")
        elif not grad:
            self.end_batch(step, loop, t, "validation")
        elif step.batches >= (self.accumulation or FIRST_HOLD):
            self.end_batch(step, loop, t, "train" if loop.loader in self.trained else "validation")

    def end_batch(self, step, loop, t, kind):
        """Ends a step at the next batch and begins another."""
        source = "optimizer" if kind == "train" and self.optimizers else "dataloader"
        self.close(t, kind, source)
        self.open(t, source, loop.loader)

    def other_loader(self, step, loop, t):
        """A loop begins, perhaps inside another one's step."""
        if step is not None and step.optimized and step.owner is not None:
            self.accumulation = max(self.accumulation or 1, step.batches)
            self.close(max(step.t0, min(loop.made, t)), "train", "optimizer")
        self.current = None
        self.open(t, "dataloader" if not self.optimizers else "optimizer", loop.loader)

    def batch_given(self, loop, items):
        """The batch has arrived: items in it, 0 where unknown."""
        step = self.current
        if step is not None and (step.owner == loop.loader or step.owner is None):
            step.batches += 1
            step.items += items

    def loop_ended(self, loop, t, tid, grad):
        """The loader has no more batches; t is when it was asked, so the asking itself belongs to no step."""
        step = self.current
        if tid != self.driver or step is None or step.owner != loop.loader or self.strength > 2:
            return
        if step.batches == 0:
            self.current = None
            self.idle_since = t
        elif step.optimized:
            self.accumulation = max(self.accumulation or 1, step.batches)
            self.close(t, "train", "optimizer")
        elif not self.optimizers:
            self.close(t, "inference")
        else:
            self.close(t, "train" if grad and loop.loader in self.trained else "validation", "dataloader")
        self.loop = None

    # Calls of modules

    def called(self, name, t, tid):
        """A module is called from outside all modules, in a program that has neither optimizer nor loader. Returns whether each call
        of it is a step and no other module is called so."""
        if self.optimizers or not self.accepts("period", tid) or not self.leader.leads(name):
            return False
        if self.current is not None and self.current.kind == "inference":
            asked = "validation" if "train" in self.kinds else "inference"
            self.close(t, "train" if self.current.optimized else asked, "period")  # weights may be updated by hand
            self.open(t, "period", kind="inference")
            return len(self.leader.counts) == 1
        if self.current is None:
            self.open(t, "period", kind="inference")
        return False
