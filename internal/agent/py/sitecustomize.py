"""Loads the agent, then whatever sitecustomize the environment has of its own. Parses on any Python, 2.7 included."""

import os
import sys


def _leave_path():
    """Takes this folder off sys.path: the program sees the path it would have had. Children still inherit PYTHONPATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != here]
    return here


def _start_agent(here):
    if sys.version_info < (3, 8):
        return
    sys.path.insert(0, here)
    try:
        import _bneck_agent
    finally:
        sys.path.remove(here)
    _bneck_agent.start()


def _chain():
    """Imports the next sitecustomize, if there is one; its errors are the program's own business."""
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        missing = sys.exc_info()[1]
        if getattr(missing, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        if mine is not None:
            sys.modules.setdefault("sitecustomize", mine)


_here = _leave_path()
try:
    _start_agent(_here)
except Exception:  # the program comes first: without the agent it runs as ever
    pass
_chain()
