"""One frame with variables of every kind that is shown."""
import time


def hold(argument, *rest, **more):
    small = 7
    negative = -123456789012345678901234567890
    zero = 0
    real = 2.5
    flag = True
    nothing = None
    text = "grüße"
    long_text = "x" * 5000
    raw = b"abc"
    items = [1, "two", 3.0, None, 5]
    pair = (1, (2, 3))
    table = {"a": 1, "b": 2}
    some = {1, 2, 3}
    thing = hold
    captured = 42

    def inner():
        return captured

    print("ready", flush=True)
    time.sleep(60)
    return inner, small, negative, zero, real, flag, nothing, text, long_text, raw, items, pair, table, some, thing


hold("x", 1, 2, k=3)
