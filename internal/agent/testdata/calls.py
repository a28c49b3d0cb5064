"""Calls of every kind: recursion, generators, exceptions, C functions that call back; "threads" runs them in four, "beside" in cProfile."""

import json
import sys
import threading
import types


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def numbers(n):
    for i in range(n):
        yield i


def fails():
    raise ValueError("on purpose")


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


class Thing:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value


def work(n=14):
    fib(n)
    total = sum(numbers(100)) + max(range(20), key=lambda x: -x)
    for _ in range(10):
        try:
            fails()
        except ValueError:
            total += 1
    abandoned = numbers(5)
    next(abandoned)
    abandoned.close()
    even(9)
    json.loads(json.dumps({"a": [1, 2, {"b": None}]}))
    return total + len(sorted(Thing(i % 7) for i in range(30)))


def in_threads():
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()


def bound():
    """Calls of a bound C function, as methods of pybind11 are: 3.12 and 3.13 report their begin and their end differently."""
    length = types.MethodType(len, [1, 2])
    for _ in range(3):
        length()
    return even(4)


def beside():
    import cProfile

    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    profile.dump_stats(sys.argv[2])
    work()


if len(sys.argv) > 1 and sys.argv[1] == "threads":
    in_threads()
elif len(sys.argv) > 1 and sys.argv[1] == "beside":
    beside()
elif len(sys.argv) > 1 and sys.argv[1] == "bound":
    bound()
else:
    work()
    work(7)
print("done")
