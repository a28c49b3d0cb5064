"""Handlers of signals raise exceptions of the program's own, which it catches and counts; the argument says when the signals come."""

import _thread
import ctypes
import gc
import os
import random
import signal
import sys
import time

HOW = sys.argv[1]
ROUNDS = 150


class Alarm(Exception):
    """What a library for time limits raises."""


def handler(number, frame):
    raise Alarm(number)


signal.signal(signal.SIGALRM, handler)
assert signal.getsignal(signal.SIGALRM) is handler and signal.signal(signal.SIGALRM, handler) is handler
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

import torch  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(torch.randn(10_000, 4), batch_size=None)
agent = sys.modules.get("_bneck_agent")  # absent in the run that this one is compared with


def steps():
    for _row in loader:
        optimizer.step()


def steps_for(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        steps()


def rounds(arm):
    """How many of the exceptions the program has caught."""
    caught = 0
    for _ in range(ROUNDS):
        torch.set_grad_enabled(True)  # the exception may come out of a context manager that would have done it
        try:
            arm()
            steps_for(10)
        except Alarm:
            caught += 1
        else:
            break  # it is lost
    return caught


def timer():
    signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.004))


def thread():
    """Another thread raises it in this one, as libraries for time limits do, too."""
    main = _thread.get_ident()

    def later():
        time.sleep(random.uniform(0.0001, 0.004))
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(Alarm))

    _thread.start_new_thread(later, ())


sent = 0
left = 0  # interruptions that are left out before the one of this part


def interrupt():
    global sent, left
    left -= 1
    if left != 0:
        return
    sent += 1
    os.kill(os.getpid(), (signal.SIGALRM, signal.SIGINT)[sent % 2])
    for _ in range(100):
        time.monotonic()


def within(holder, name):
    """Has a signal come while this function of the agent's runs, which goes on for a while."""
    original = getattr(holder, name)

    def function(*arguments, **keywords):
        result = original(*arguments, **keywords)
        interrupt()
        return result

    setattr(holder, name, function)


def try_each(parts):
    """How many of the exceptions the program has caught while each of these parts of it ran."""
    global left
    caught = 0
    for part in parts:
        for turn in range(20):
            before = sent
            left = 1 + turn % 5
            try:  # calls only: the jump of a loop at the end of a try is outside of it for the interpreter
                part()
                wait(10 * (sent - before))
            except (Alarm, KeyboardInterrupt):
                caught += 1
    return caught


def wait(seconds=0.1):
    """No step for a while: a slice of time ends in it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def fork():
    global left
    child = os.fork()
    if child == 0:
        left = 0
        os._exit(0)
    os.waitpid(child, 0)


def few_steps():
    for _row, _ in zip(loader, range(50)):
        optimizer.step()


called = []  # when the handler was


def blocked(arm, block):
    """Whether a handler is called at once though the program blocks as soon as the signal has come."""
    signal.signal(signal.SIGALRM, lambda *_: called.append(time.monotonic()))
    for _ in range(3):
        called.clear()
        arm()
        if agent is None:
            os.kill(os.getpid(), signal.SIGALRM)
        block()
        if not called or time.monotonic() - called[0] < 0.2:
            return False
    return True


def set_anew():
    """How often an exception has come before the handler that raises it is gone."""
    caught = 0
    for _ in range(10):
        signal.signal(signal.SIGALRM, handler)
        try:
            gc.collect()
            if agent is None:
                os.kill(os.getpid(), signal.SIGALRM)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        except Alarm:
            caught += 1
            continue
        try:
            wait(0.05)
        except Alarm:
            pass  # too late
    return caught


def send(*_):
    os.kill(os.getpid(), signal.SIGALRM)


def hang():
    """What the program would never come to in a hook that hangs: a handler runs in it, and its exception passes all hooks."""
    from _bneck_agent import core, signals

    signal.signal(signal.SIGUSR1, lambda *_: None)

    def inner():
        os.kill(os.getpid(), signal.SIGUSR1)  # this one waits
        wait(0.01)
        send()
        wait(0.01)

    def middle():
        try:
            core.hook("inner")(inner)()
        except Exception as error:
            signals.said(error)

    signals.LIMIT_NS = 0
    core.hook("outer")(middle)()


def interrupted(*_):
    """In place of torch's tables of memory, while they are worked out."""
    os.kill(os.getpid(), signal.SIGINT)
    wait(0.5)
    print("it goes on")


if HOW == "timer":
    gc.set_threshold(50)
    print(rounds(timer))
elif HOW == "thread":
    gc.disable()  # the interpreter drops what is raised in its callbacks, with or without the agent
    print(rounds(thread))
elif HOW == "blocked":
    gc.disable()
    if agent is not None:
        from _bneck_agent import life, marks

        life.after_fork_parent.append(send)
    print(blocked(fork, lambda: time.sleep(0.3)))
    if agent is not None:
        life.after_fork_parent.remove(send)
        marks.resolve = send
    print(blocked(gc.collect, lambda: time.sleep(0.3)), set_anew())
elif HOW == "hangs":
    try:
        hang() if agent is not None else handler(0, None)
    except Alarm:
        print("caught")
elif HOW == "tables":
    if agent is not None:
        import torch.profiler._memory_profiler
        from _bneck_agent import memorycategories

        torch.profiler._memory_profiler.MemoryProfile = interrupted
        memorycategories.kept = None, 0, 1
    print("done")
elif HOW == "hooks":
    if agent is not None:
        from _bneck_agent import asked, life, profiler, ticker

        within(ticker, "stop")
        within(ticker, "start")
        within(profiler.Session, "start")
        within(profiler.Session, "stop")
        within(profiler.Session, "save")
        within(asked, "updated")
        life.before_fork.append(interrupt)
    caught = try_each((wait, gc.collect, few_steps, fork, few_steps))
    print(caught == sent, agent is None or sent > 40)
