"""Calls and returns as fast as it can: a to c, b to d, deep recursion, generators, and code objects made anew."""
import sys
import threading
import time


def c(n):  # from a
    return n


def d(n, m=1):  # from b
    return n


def a():  # from main
    for i in range(10):
        c(i)


def b():  # from main
    x = y = 0
    for i in range(10):
        d(i)


def fib(n):  # from main, fib
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def produce(n):  # from consume
    for i in range(n):
        yield i


def consume():  # from main
    for _ in produce(5):
        pass


def fresh(n):  # from main
    space = {}
    exec("def made_%d():\n    return callee()\ndef callee():\n    return 1\nmade_%d()" % (n % 7, n % 7), space)


def main(end):
    n = 0
    while time.monotonic() < end:
        a()
        b()
        fib(8)
        consume()
        n += 1
        if n % 50 == 0:
            fresh(n)


print("ready", flush=True)
seconds = float(sys.argv[1])
other = threading.Thread(target=main, args=(time.monotonic() + seconds,))
other.start()
main(time.monotonic() + seconds)
other.join()
