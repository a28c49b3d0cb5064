"""Runs start.py, which loads the agent and then whatever sitecustomize the environment has of its own. Parses on any Python, 2.7 included.

Coverage counts the lines of this file where it has begun before it, so there are few of them, and all of them run.
"""

import os

_here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(_here, "start.py")) as _file:
    exec(compile(_file.read(), "<bottleneck>/start.py", "exec"), {"__name__": "_bneck_start", "HERE": _here})
