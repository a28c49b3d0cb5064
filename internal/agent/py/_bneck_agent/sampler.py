"""In-process sampling, the fallback where stacks cannot be read from outside: a thread that notes every thread's Python stack.

It sees only what the interpreter lets it see: it needs the GIL for each look, so that samples cluster where the program lets go of it,
long calls into C that hold it leave a gap, and threads of C code have no stack at all. Started only when asked for.
"""

import _thread
import os
import sys

from . import core, life, signals

MAX_FRAMES = 100
MAX_STACKS = 50_000

stacks = {}  # stack -> number
natives = {}  # Python's thread ident -> native thread id
wake = None


def install(torch):
    """Begins if the launcher asked for it; in forked children again once they have forked."""
    if core.config.sample:
        start()
        life.before_fork.append(stop)
        life.after_fork_parent.append(start)
        life.after_fork.append(forked)
        life.at_end.insert(0, stop)


@core.hook("sampler-start")
def start():
    """Begins the thread."""
    global wake
    if wake is None and not life.ended:
        wake = _thread.allocate_lock()
        wake.acquire()
        done = _thread.allocate_lock()
        done.acquire()
        ending.append(done)
        signals.start_thread(run, (wake, done, 1.0 / min(1000.0, core.config.sample)))


ending = []


@core.hook("sampler-stop")
def stop():
    """Ends the thread and waits for it."""
    global wake
    if wake is not None:
        wake.release()
        wake = None
        ending.pop().acquire()


@core.hook("sampler-child")
def forked():
    """The child has no thread yet, and numbers its stacks anew."""
    global wake
    wake = None
    del ending[:]
    stacks.clear()
    natives.clear()
    start()


def run(wake, done, seconds):
    """The thread. The distance varies a little, so that no rhythm of the program is met always at the same place."""
    own = _thread.get_ident()
    turn = 0
    try:
        while not wake.acquire(True, seconds * (0.75 + 0.5 * ((turn * 0.618034) % 1.0))):
            turn += 1
            sample(own)
    finally:
        done.release()


@core.hook("sample")
def sample(own):
    """Notes every other thread's stack."""
    t = core.now()
    for ident, frame in list(sys._current_frames().items()):
        if ident != own:
            number = stack_number(frame)
            if number is not None:
                core.emit("sample", t, native(ident), number)


def native(ident):
    """The system's number of a thread."""
    found = natives.get(ident)
    if found is None:
        threading = sys.modules.get("threading")
        for thread in threading.enumerate() if threading is not None else ():
            if thread.ident == ident:
                found = natives[ident] = thread.native_id
    return found if found is not None else os.getpid()


def stack_number(frame):
    """The number of a stack, which is written when it is seen for the first time; None when there are too many."""
    frames = []
    while frame is not None and len(frames) < MAX_FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith(core.PACKAGE):
            frames.append((getattr(code, "co_qualname", code.co_name), code.co_filename, code.co_firstlineno, frame.f_lineno))
        frame = frame.f_back
    key = tuple(frames)
    number = stacks.get(key)
    if number is None:
        if len(stacks) >= MAX_STACKS:
            core.count("samples_dropped")
            return None
        number = stacks[key] = len(stacks)
        core.emit("stack", number, frames)
    return number
