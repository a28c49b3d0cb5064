"""Prints how two files of cProfile differ in what one function of a program and all that it calls within the program did:
counts of each, and of every call that they make. The first file's counts are multiplied by N."""

import os
import pstats
import sys

NAMES = "fib numbers fails even odd __init__ __lt__ <lambda> <genexpr>".split()


def rows(path, factor):
    result = {}
    for key, (primitive, calls, own, cumulative, callers) in pstats.Stats(path).stats.items():
        assert 0 <= own <= cumulative + 1e-6 < 60, (key, own, cumulative)
        if program(key):
            result[key[1:]] = (primitive * factor, calls * factor)
        for caller, edge in callers.items():
            if program(caller):
                result[key[1:], caller[1:]] = (edge[0] * factor, edge[1] * factor)
    return result


def program(key):
    return os.path.basename(key[0]) == "calls.py" and (key[2] in NAMES or key[2] == "work")


wanted, got = rows(sys.argv[1], int(sys.argv[3])), rows(sys.argv[2], 1)
for key in sorted(set(wanted) | set(got), key=str):
    if wanted.get(key) != got.get(key):
        print(key, "cProfile:", wanted.get(key), "counted:", got.get(key))
print(len(wanted), "rows")
