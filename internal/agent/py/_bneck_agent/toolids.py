"""The tool ids of sys.monitoring (3.12 and later), the one place from which the agent's parts have their events.

Ids are few, so parts whose events differ share one. An id that the program asks for is the program's: to it ours look free, and what
listened by one goes on by another, or ends where there is none.
"""

import functools
import operator
import sys

from . import core

# Two have no meaning; the last one is for optimizers, of which there are none. Debuggers, coverage and profilers have the others.
IDS = (3, 4, 5)
NAME = "bottleneck"

monitoring = getattr(sys, "monitoring", None)
take = owner = None  # its use_tool_id and get_tool, once the program has ours
held = {}  # our ids -> the listeners by each
coming = {}  # the id that the program is about to have -> its name for it


class Listener:
    """Functions for events, by one tool id."""

    def __init__(self, functions, ended, everywhere, local):
        self.functions = functions  # {name of an event: what is called}
        self.ended = ended  # called when the program has taken the last id
        self.everywhere = everywhere  # names of the events that all code has
        self.local = local  # names of those that chosen code has
        self.codes = []  # chosen code objects
        self.id = None  # None once it has ended

    def bind(self, functions):
        """Other functions for the same events."""
        self.functions = functions
        for name, function in functions.items():
            monitoring.register_callback(self.id, getattr(monitoring.events, name), function)


def listen(functions, ended, everywhere=None, local=()):
    """Has functions called for events from here on; None where the program has all ids. For the arguments see Listener; without a word
    on it, all code has all events."""
    if take is None:
        share()
    listener = Listener(functions, ended, functions if everywhere is None else everywhere, local)
    return listener if place(listener) else None


def place(listener, asked=None):
    """Finds an id for a listener: one of ours by which nobody has its events, else a new one. Not the one that the program asks for."""
    found = [number for number in held if not any(other.functions.keys() & listener.functions.keys() for other in held[number])]
    if not found:
        found = [number for number in IDS if number not in held and number != asked and owner(number) is None]
        if not found:
            return False
        take(found[0], NAME)
        held[found[0]] = []
    listener.id = found[0]
    held[listener.id].append(listener)
    listener.bind(listener.functions)
    switch(listener.id)
    for code in listener.codes:
        monitoring.set_local_events(listener.id, code, mask(listener.local))
    return True


def mask(names):
    """The events of these names as one number."""
    return functools.reduce(operator.or_, (getattr(monitoring.events, name) for name in names), 0)


def choose(listener, code):
    """Switches on a listener's local events in one code object."""
    listener.codes.append(code)
    if listener.id is not None:
        monitoring.set_local_events(listener.id, code, mask(listener.local))


def switch(number):
    """Switches on what is listened to by an id."""
    monitoring.set_events(number, mask(name for listener in held[number] for name in listener.everywhere))


def stop(listener):
    """Ends a listener. The id goes back with its last one."""
    number, listener.id = listener.id, None
    if number is None:
        return
    held[number].remove(listener)
    switch(number)
    unbind(number, listener)
    if not held[number]:
        del held[number]
        give_back(number)


def unbind(number, listener):
    """Takes a listener's functions and local events off an id."""
    for code in listener.codes:
        monitoring.set_local_events(number, code, 0)
    for name in listener.functions:
        monitoring.register_callback(number, getattr(monitoring.events, name), None)


def give_back(number):
    """Frees an id. What was disabled by it would stay disabled for its next owner."""
    monitoring.free_tool_id(number)
    monitoring.restart_events()


def share():
    """Makes our ids look free to the program, and be free when it asks for one."""
    global take, owner
    take, owner = monitoring.use_tool_id, monitoring.get_tool

    @functools.wraps(take)
    def use_tool_id(*arguments):
        asked(*arguments[:2])
        return take(*arguments)

    @functools.wraps(owner)
    def get_tool(*arguments):
        return None if arguments[:1] and arguments[0] in list(held) else owner(*arguments)

    monitoring.use_tool_id, monitoring.get_tool = use_tool_id, get_tool


@core.hook("tool-id-asked")
def asked(number, name=""):
    """The program takes an id."""
    if number not in list(held):
        return
    coming[number] = name
    listeners = held.pop(number)
    monitoring.set_events(number, 0)
    for listener in listeners:
        unbind(number, listener)
        listener.id = None
    give_back(number)
    for listener in reversed([listener for listener in listeners if not place(listener, number)]):
        if not place(listener, number):  # what has just ended may have left it an id
            listener.ended()
    coming.clear()


def taken():
    """Who has the ids, in words."""
    owners = [(number, coming.get(number) or owner(number)) for number in IDS if number not in held]
    return ", ".join("%d: %s" % pair for pair in owners if pair[1] is not None)
