"""Says how what a changed program has saved differs from the original's, beyond rounding and what any two of its runs differ by.

Arguments: files of runs of the original, two or more, and of the changed program. Prints the first difference, or nothing.
"""

import sys

import torch

SHARE, LEAST = 1e-3, 1e-6  # of a tensor's largest value, and of anything


def tensors(value, name=""):
    """All tensors and numbers of nested dicts and lists, by their paths."""
    if isinstance(value, dict):
        for key in value:
            yield from tensors(value[key], "%s.%s" % (name, key) if name else str(key))
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from tensors(each, "%s[%d]" % (name, i))
    elif isinstance(value, torch.Tensor):
        yield name, value.detach().to("cpu", torch.float64)
    elif isinstance(value, (int, float)):
        yield name, torch.tensor(float(value), dtype=torch.float64)


def far(a, b):
    """The largest difference of two tensors."""
    return float((a - b).abs().max()) if a.numel() else 0.0


def difference(originals, after):
    before = originals[0]
    for name in before:
        if name not in after:
            return "%s is no longer saved" % name
        a, c = before[name], after[name]
        if a.shape != c.shape:
            return "%s has the shape %s, and had %s" % (name, list(c.shape), list(a.shape))
        same = [o[name] for o in originals if name in o and o[name].shape == a.shape]
        own = max(far(x, y) for x in same for y in same)
        most = max(SHARE * float(a.abs().max()) if a.numel() else 0.0, LEAST, 2 * own)
        if not far(a, c) <= most and not torch.equal(a.isnan(), torch.ones_like(a, dtype=torch.bool)):
            return "%s differs by up to %.3g, and from run to run of the original by %.3g" % (name, far(a, c), own)
    for name in after:
        if name not in before:
            return "%s is new" % name
    return ""


states = [dict(tensors(torch.load(path, map_location="cpu", weights_only=True))) for path in sys.argv[1:]]
print(difference(states[:-1], states[-1]))
