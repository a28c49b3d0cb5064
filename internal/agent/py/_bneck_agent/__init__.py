"""The agent of `bottleneck`: rides in a Python program, marks its steps and waits, and runs torch's profiler now and then.

It is loaded by sitecustomize in every Python of a measured command and does next to nothing until torch is imported.
Nothing it does may change what the program does: every hook is guarded (core.hook), nothing is printed, no descriptor stays
open. It does not analyse: it writes process.json, events.jsonl.gz and traces into its folder of the session directory.
"""

import json
import os


def start():
    """Begins in this process if a launcher asked for it (BNECK_AGENT_CONFIG); once."""
    from . import core

    text = os.environ.get("BNECK_AGENT_CONFIG")
    if not text or core.config is not None:
        return
    told = json.loads(text)
    if not isinstance(told, dict):
        return
    from .settings import Settings

    config = Settings(told)
    if not os.path.isdir(config.session):
        return
    core.begin(config)
    from . import imports, life, marks, signals, tracebacks

    core.hook("signals")(signals.install)()
    life.install()
    tracebacks.install()
    imports.install()
    if config.step_on or config.region_on:
        marks.begin_without_torch(config)
        life.watch_gc()
        life.at_end.append(marks.at_end)
    if config.calls:
        from . import calls

        calls.begin()
    if config.lines:
        from . import lines

        lines.begin()
