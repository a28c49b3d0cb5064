"""Which functions --lines is about: by name, by glob, by place, and by the decorator @profile, which needs no import."""

import builtins
import fnmatch
import functools
import os
import re

from . import core

LAMBDA = "<lambda>"  # the name that code has where a function has only the name of what holds it
DECORATED = "@profile"  # as a name: those alone that have the decorator
OPTIMIZED = 1  # the flag that code of functions has, and code of modules and classes has not

patterns = []  # those of names, with globs
places = []  # [(file, line, pattern)]
matched = set()  # patterns that a function was found for
by_name = {}  # last part of a function's name -> the patterns whose last part it fits
by_file = {}  # file -> the places in it
dull = set()  # last parts of names that no pattern fits
dull_files = set()  # files of no place


def take(told):
    """Takes what --lines was given."""
    for text in told:
        place = re.match(r"(.+\.pyw?):(\d+)$", text)
        if place:
            places.append((place.group(1), int(place.group(2)), text))
        elif text != DECORATED:
            patterns.append(text)


def wanted(code, frame):
    """Whether a function is one of those that were named. frame: one in which it runs, to know its module."""
    name, file = code.co_name, code.co_filename
    if name not in by_name:
        by_name[name] = [text for text in patterns if name == LAMBDA or fnmatch.fnmatchcase(name, text.rpartition(".")[2])]
        if not by_name[name]:
            dull.add(name)
    if file not in by_file:
        by_file[file] = [place for place in places if ("/" + file).endswith("/" + place[0].lstrip("./"))]
        if not by_file[file]:
            dull_files.add(file)
    if not by_name[name] and not by_file[file] or not code.co_flags & OPTIMIZED or file.startswith(core.PACKAGE):
        return False
    found = [text for _, line, text in by_file[file] if holds(code, line)]
    found += [text for text in by_name[name] if fits(text, code, frame)]
    matched.update(found)
    return bool(found)


def holds(code, line):
    """Whether a line is in a function, and not in one within it that has a name."""
    inner = [part for part in code.co_consts if hasattr(part, "co_code") and not part.co_name.startswith("<")]
    return code.co_firstlineno <= line <= last_line(code) and not any(holds(part, line) for part in inner)


def last_line(code):
    """The last line of a function, those within it included."""
    from .linerows import lines_of

    inner = [last_line(part) for part in code.co_consts if hasattr(part, "co_code")]
    return max([code.co_firstlineno] + inner + list(lines_of(code)))


def fits(text, code, frame):
    """Whether a pattern means a function. One that does not begin with a module's name is about the program's own files."""
    names = [code.co_name, qualified(code, frame.f_globals)]
    names.append(names[1].replace("<locals>.", ""))
    if code.co_name == LAMBDA:
        names[1:] = [name for name, value in list(frame.f_globals.items()) if getattr(value, "__code__", None) is code]
    if users(code.co_filename) and any(fnmatch.fnmatchcase(name, text) for name in names):
        return True
    module = frame.f_globals.get("__name__") or ""
    modules = [module]
    if module == "__main__":
        modules.append(os.path.splitext(os.path.basename(code.co_filename))[0])
    return not re.match(r"[^.]*[*?[]", text) and any(fnmatch.fnmatchcase(part + "." + name, text) for part in modules for name in names)


def users(file):
    """Whether a file is neither a library's nor made at run time."""
    return not file.startswith("<") and not file.startswith(tuple(core.inner)) and not any(part in file for part in core.LIBRARIES)


def qualified(code, names):
    """A function's name with its classes; before 3.11 code does not know it, and the module's classes are searched."""
    known = getattr(code, "co_qualname", None)
    if known is not None:
        return known
    classes = [value for value in list(names.values()) if isinstance(value, type) and value.__module__ == names.get("__name__")]
    for owner in classes:
        if len(classes) < 10_000:
            classes += [value for value in list(vars(owner).values()) if isinstance(value, type) and value not in classes]
        if any(found is code for found in codes(vars(owner).get(code.co_name))):
            return owner.__qualname__ + "." + code.co_name
    return code.co_name


def codes(thing):
    """The code objects of what can be decorated: functions, methods of each kind, properties, partial functions, classes. Of a function
    around another one, which functools.wraps has marked, the inner one's."""
    seen = 0
    while seen < 100 and thing is not None:
        seen += 1
        inner = getattr(thing, "__wrapped__", None) or getattr(thing, "__func__", None)
        if inner is None and isinstance(thing, (functools.partial, getattr(functools, "cached_property", functools.partial))):
            inner = thing.func
        if inner is None:
            break
        thing = inner
    if isinstance(thing, property):
        return [code for part in (thing.fget, thing.fset, thing.fdel) for code in codes(part)]
    if isinstance(thing, type):
        return [code for part in list(vars(thing).values()) if not isinstance(part, type) for code in codes(part)]
    code = getattr(thing, "__code__", None)
    return [code] if hasattr(code, "co_code") else []


def install(choose):
    """Puts the decorator where the program finds it without an import; a name of the program's own comes before it."""

    @core.hook("lines-decorated")
    def decorated(function):
        for code in codes(function):
            choose(code, True)

    def profile(function):
        """Has the lines of a function counted (bottleneck run --lines); the function itself stays as it is."""
        decorated(function)
        return function

    if not hasattr(builtins, "profile"):
        builtins.profile = profile


def missing():
    """Says which names no function that ran was found for."""
    from . import marks, names

    unknown = [text for text in patterns if text not in matched]
    there = [text for text in unknown if marks.locate(text)[0] is not None]
    names.report([("lines", text) for text in unknown if text not in there], [("lines", text) for text in there], ())
    for _, _, text in places:
        if text not in matched:
            core.note("never-called", "--lines %s: no function of this line has run" % text)
