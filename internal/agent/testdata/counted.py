"""Functions of every kind whose lines --lines counts; the first argument says what runs."""

import asyncio
import functools
import sys
import threading
import time


def plain(n):
    total = 0
    for i in range(n):
        total += i
    return total


def several(n):
    for i in range(n):
        value = max(
            i,
            abs(
                -i,
            ),
        )
        if (
            value > 2
            and i > 1
        ):
            value = 0
    return value


def generated(n):
    for i in range(n):
        got = yield i
        del got


def consumer(n):
    total = 0
    for i in generated(n):
        total += i
        time.sleep(0.01)
    return total


async def waited(n):
    for _ in range(n):
        await asyncio.sleep(0.01)
    return n


async def both():
    await asyncio.gather(waited(3), waited(3))


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def raises(n):
    for i in range(n):
        try:
            int("x" * i)
        except ValueError:
            pass
    raise KeyError(n)


def around(function):
    @functools.wraps(function)
    def call(*arguments):
        return function(*arguments)

    return call


class Thing:
    @property
    def value(self):
        return 1

    @staticmethod
    def still(n):
        return n

    @around
    def method(self, n):
        def nested(i):
            return i + self.value

        return sum(map(nested, range(n)))


double = lambda n: 2 * n  # noqa: E731


def callee(n):
    time.sleep(n)


def outer():
    callee(0.05)
    time.sleep(0.02)


def work():
    plain(100)
    several(10)
    consumer(3)
    asyncio.run(both())
    fib(8)
    try:
        raises(3)
    except KeyError:
        pass
    abandoned = generated(5)
    next(abandoned)
    abandoned.close()
    thing = Thing()
    thing.method(4)
    thing.still(1)
    [double(i) for i in range(5)]
    outer()


def in_threads():
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()


if sys.argv[1:] == ["threads"]:
    in_threads()
else:
    work()
print("done", sys.gettrace(), threading.active_count())
