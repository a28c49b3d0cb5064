"""Functions of each kind with @profile, without an import; "own" has a decorator of its own by that name, "absent" asks for none."""

import builtins
import functools
import os
import signal
import sys
import traceback

if sys.argv[1:] == ["absent"]:
    print(hasattr(builtins, "profile"))
    sys.exit(3)

if sys.argv[1:] == ["own"]:

    def profile(function):
        print("own", function.__name__)
        return function


def around(function):
    @functools.wraps(function)
    def call(*arguments):
        return function(*arguments)

    return call


@profile
def plain(n):
    total = 0
    for i in range(n):
        total += i
    return total


@profile
@around
def inner(n):
    return n


class Thing:
    @profile
    @classmethod
    def made(cls):
        return cls()

    @profile
    @property
    def value(self):
        return 1


def late(n):
    return n


class Alarm(Exception):
    """What the handler raises."""


def ring(number, frame):
    raise Alarm(number)


def interrupted():
    signal.signal(signal.SIGALRM, ring)
    for _ in range(5):
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        try:
            while True:
                plain(1000)
        except Alarm as error:
            files = {os.path.basename(entry.filename) for entry in traceback.extract_tb(error.__traceback__)}
            print("alarm", sorted(files))


late(0)
late = profile(late)
print(plain(10), inner(1), Thing.made().value, late(2), plain.__name__, plain.__code__.co_name)
if sys.argv[1:] == ["signals"]:
    interrupted()
