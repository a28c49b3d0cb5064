"""What the scripts that run the peers share: one JSON line per trace."""

import json
import math
import sys


def finite(value):
    """The same with None for what is no number, which JSON cannot hold."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_analyses(analyse):
    """Print what analyse(root, file) returns for every file of the command line, ROOT FILE..., as one line each."""
    sys.stdout.reconfigure(line_buffering=True)
    for name in sys.argv[2:]:
        print(json.dumps(finite(analyse(sys.argv[1], name))))
