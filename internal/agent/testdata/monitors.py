"""Named steps and calls of functions, while the program takes the tool ids of sys.monitoring that the arguments name."""

import sys


def work(number):
    return sum(divmod(number, 3))


def late():
    return [work(number) for number in range(5)]


def own():
    return "unmarked"


def take(number):
    """Listens to first calls by a tool id, and shows that it gets them."""
    monitoring, first = sys.monitoring, []
    if monitoring.get_tool(number) is not None:
        return "is taken"
    monitoring.use_tool_id(number, "program")

    def begins(code, offset):
        first.append(code.co_name)
        return monitoring.DISABLE

    monitoring.register_callback(number, monitoring.events.PY_START, begins)
    monitoring.set_local_events(number, own.__code__, monitoring.events.PY_START)
    own()
    monitoring.set_local_events(number, own.__code__, 0)
    return "%s of %s" % (first, monitoring.get_tool(number))


for _ in range(10):
    late()
for argument in sys.argv[1:]:
    print(argument, take(int(argument)))
for _ in range(10):
    late()


def last():
    return len(sys.argv)


for _ in range(3):
    last()
