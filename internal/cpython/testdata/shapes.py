"""Threads that stand still in known places: a deep chain, a generator, recursion, a coroutine, a class body's method."""
import threading
import time

stop = threading.Event()


def leaf():
    print("ready", flush=True)
    stop.wait(60)  # LEAF


def chain(n):
    if n:
        chain(n - 1)  # CHAIN
    else:
        leaf()  # BOTTOM


def produce():
    yield 1
    time.sleep(60)  # PRODUCE


def consume():
    for _ in produce():  # CONSUME
        pass


class Ünïcode:
    def méthode(self):
        time.sleep(60)  # METHOD


def call_from_c():
    sorted([2, 1], key=lambda x: Ünïcode().méthode())  # FROM_C


async def inner():
    time.sleep(60)  # INNER


async def outer():
    await inner()  # AWAIT


def drive():
    outer().send(None)  # DRIVE


for f in (consume, call_from_c, drive):
    threading.Thread(target=f, name=f.__name__, daemon=True).start()
time.sleep(0.2)
chain(20)
