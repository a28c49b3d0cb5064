"""Calls of modules from outside, as steps of programs that have neither optimizer nor DataLoader (a server, a generator of text); what few
of them are called with tells how much of a batch is padding and whether a model is asked for the same again, in a program that trains, too.

All module calls are watched only until one module has been called a few times; then only its class is. Programs that compile
are not watched this way: Dynamo would trace the watcher. Where Dynamo is merely loaded, as by transformers, the watcher stays until
torch.compile or Dynamo says that it begins.
"""

import _thread
import itertools
import os
import sys
import threading
import weakref

from . import asked, core, denormals, marks, modulepaths, padding

ENOUGH = 3
KEPT = 256  # modules, and lines that call some, that are told apart


class Depth(threading.local):
    """Whether a thread is within a module's call."""

    inside = False


base = None  # torch.nn.Module
original = None  # its __call__
mine = None  # ours, while it is in place
watched = {}  # class -> the __call__ that stands in its own dictionary
calls = {}
named = {}  # id of a module -> its entry of lines
lines = {}  # (code, line, class) of a call from outside -> [[weak reference to a module, its number]]
numbers = itertools.count()
depth = Depth()
over = True  # nobody watches: what is still bound somewhere only passes calls on
paused = False  # while Dynamo is being loaded
skipped = [0, 0, 0]  # how many calls need no mark, of which module (its id), on which thread


def install(torch):
    """Watches every module's calls for a while."""
    global base, original, mine, over
    if "BNECK_LOADER" in os.environ or "torch._dynamo" in sys.modules and not beside_dynamo(torch):
        return
    base = torch.nn.Module
    original = base.__call__
    mine, over = watcher(original), False
    base.__call__ = mine


def beside_dynamo(torch):
    """Whether calls may be watched though Dynamo is loaded: nothing was compiled yet, and both torch.compile, by a module that it loads
    first (2.6 and later), and Dynamo say when they begin."""
    announces = "torch._inductor.compiler_bisector"
    handler = getattr(sys.modules.get("torch._dynamo.callback"), "callback_handler", None)
    skip = getattr(sys.modules.get("torch._dynamo.eval_frame"), "skip_code", None)
    file = os.path.join(os.path.dirname(torch.__file__), "_inductor", "compiler_bisector.py")
    if announces in sys.modules or not hasattr(handler, "register_start_callback") or skip is None or not os.path.exists(file):
        return False
    if compile_begins not in handler.start_callbacks:  # torch._dynamo.reset() erases them
        handler.register_start_callback(compile_begins)
    for function in (watcher(through), through):
        skip(function.__code__)  # what was bound before stays bound
    return True


def compile_begins(*_):
    """Dynamo is about to trace modules' calls, or torch.compile to bind them."""
    leave()


def pause():
    """Dynamo is about to be loaded."""
    global paused
    paused = not over
    leave()


@core.hook("modules-resume")
def resume():
    """It has been."""
    global paused
    if paused:
        paused = False
        install(sys.modules["torch"])


def watcher(function):
    """A module's __call__ that notices calls that come from outside all modules."""

    def __call__(self, *arguments, **keywords):
        if over or depth.inside:
            if denormals.counting:
                denormals.given(self, arguments)
            given = () if over else asked.running.given
            if given and id(next(iter(arguments or keywords.values()), None)) in given:
                return within(function, self, arguments, keywords)
            return function(self, *arguments, **keywords)
        row = seen(self, arguments, keywords)
        depth.inside = True
        try:
            return function(self, *arguments, **keywords)
        finally:
            depth.inside = denormals.counting = False
            if row:
                asked.running.given = ()
                asked.ended(row)

    return __call__


def within(function, module, arguments, keywords):
    """Calls a part of a model that is being looked at."""
    running = asked.running
    known = asked.part(sys.modules["torch"], module, arguments, keywords, sys._getframe(2))  # above this function and the watcher
    if not known:
        return function(module, *arguments, **keywords)
    row, again, inside = known
    given, running.given, answer = running.given, inside, None
    try:
        answer = function(module, *arguments, **keywords)
        return answer
    finally:
        running.given = given
        asked.part_ended(row, again, answer)


@core.hook("module-called")
def seen(module, arguments, keywords):
    """A call from outside begins. What asked.ended() tells of it, if anything."""
    if skipped[0] and skipped[1] == id(module) and skipped[2] == _thread.get_ident():
        skipped[0] -= 1
        return None
    t = core.now()
    if marks.wanted:
        marks.resolve()
    if padding.wants_calls():
        padding.called(arguments, keywords, sys._getframe(3))  # above this function, its guard and the watcher
    row = asked.called(sys.modules["torch"], module, arguments, keywords, sys._getframe(3)) if asked.wanted() else None
    if marks.tracker.optimizers or marks.tracker.strength > 1:
        needless()
        watch_less(module)
        return row
    alone = marks.called(name_of(module), t, core.thread_id())
    if mine is None:
        skipped[:] = marks.skip() if alone else 0, id(module), _thread.get_ident()
    else:
        core.tick(t)
        watch_less(module)
    return row


def watch_less(module):
    """Counts a call, and watches only its module's class from a few on."""
    kind = type(module)
    calls[kind] = calls.get(kind, 0) + 1
    if mine is not None and calls[kind] >= ENOUGH and not asked.wanted():
        narrow(kind)


def name_of(module):
    """What a module is among those that repeat: itself, or the one that it replaces, where a program builds its model anew for each
    call: of the same class, called at the same line, and gone."""
    known = named.get(id(module))
    if known is not None and known[0]() is module:
        return known[1]
    caller = sys._getframe(4)  # above this function, seen, its guard and the watcher
    if len(lines) >= KEPT:  # a program may compile its calling code anew each time
        lines.clear()
    line = lines.setdefault((caller.f_code, caller.f_lineno, type(module)), [])
    entry = next((entry for entry in line if entry[0]() is None), None)
    if entry is None:
        entry = [None, next(numbers)]
        if len(line) < KEPT:
            line.append(entry)
    entry[0] = weakref.ref(module)
    if len(named) >= KEPT:
        named.clear()
    named[id(module)] = entry
    return entry[1]


def narrow(kind):
    """From now on only this class is watched."""
    release()
    if "__call__" not in vars(kind):
        watched[kind] = kind.__call__ = watcher(through)


def through(self, *arguments, **keywords):
    """What stands at Module's __call__ now."""
    return base.__call__(self, *arguments, **keywords)


def release():
    """Puts Module's own __call__ back, unless somebody has replaced ours since."""
    global mine
    if mine is not None and base.__call__ is mine:
        base.__call__ = original
    elif mine is not None and modulepaths.original is mine:
        modulepaths.original = original
    mine = None


def aside():
    """Puts Module's own __call__ back until back(): torch's first session with stacks takes the code that stands there for that of
    all modules' calls, for good. A call that another thread begins meanwhile is not seen, and its parts pass for calls from outside."""
    if mine is not None and base.__call__ is mine:
        base.__call__ = original


def back():
    """Ends aside."""
    if mine is not None and base.__call__ is original:
        base.__call__ = mine


def needless():
    """There is a better mark than calls of modules: they are watched for as long only as what they are given is wanted."""
    if not asked.wanted() and (not padding.wants_calls() or padding.calls >= padding.LAST):
        leave()


@core.hook("modules-leave")
def leave():
    """Modules need not be watched any more, or the program compiles."""
    global over
    over = True
    if base is None:
        return
    release()
    for kind, function in list(watched.items()):
        if vars(kind).get("__call__") is function:
            del kind.__call__
    watched.clear()
