"""Times the two programs of each case in turn, in one process: slow, fixed, fixed, slow, after a warm-up of both.

    python bench/gpu/turns.py OUT.json SECONDS [CASE…]

Writes the seconds of each run, of fewer steps than the programs' own (a sixth), and the number of steps.
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import time

import torch

CASES = pathlib.Path(os.environ.get("CASES") or pathlib.Path(__file__).parents[2] / "testdata" / "gpu")
COUNTS = {"launch-one": "PICTURES", "no-demand-policy": "EPISODES"}


def load(case, side):
    """The module of one side."""
    spec = importlib.util.spec_from_file_location(f"{case}_{side}".replace("-", "_"), CASES / case / f"{side}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(module, name, count):
    """The seconds of one run with a number of steps."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.enable_cudnn_sdp(True)
    setattr(module, name, count)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        module.main()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - began


def main():
    out, ends = sys.argv[1], time.time() + float(sys.argv[2])
    cases = sys.argv[3:] or sorted(path.parent.name for path in CASES.glob("*/fixed.py"))
    known = CASES / "answers.json"
    answers = json.loads(known.read_text()) if known.exists() else {}
    results = {}
    for case in cases:
        if time.time() > ends:
            break
        try:
            slow, fixed = load(case, "slow"), load(case, "fixed")
            name = answers.get(case, {}).get("constant") or COUNTS.get(case, "STEPS")
            full = getattr(slow, name)
            part = max(full // 6, 4)
            for module in (slow, fixed):
                run(module, name, max(part // 8, 4))
            times = {"slow": [], "fixed": []}
            for side in ("slow", "fixed", "fixed", "slow"):
                times[side].append(run(slow if side == "slow" else fixed, name, part))
            results[case] = {"steps": part, "of": full, **times}
            print(case, part, {side: [round(t, 3) for t in ts] for side, ts in times.items()}, flush=True)
        except Exception as error:
            print(case, "failed:", error, flush=True)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        with open(out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
