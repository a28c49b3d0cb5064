"""Runs programs of the public bench on a device, under the tool or each change in turn with the original.

    python bench/gpu/public.py sessions OUT SECONDS CHECKOUTS [ID…]
    python bench/gpu/public.py turns OUT SECONDS CHECKOUTS [ID/CHANGE…]

public.json holds what differs from bench/public/programs.json: arguments that use the device, sizes of data that keep it busy, changes.
CHECKOUTS is the folder that `go run ./bench/public -get` fills; files.txt says by hash which files are meant. `sessions` leaves OUT/ID
(the session), OUT/ID.txt, OUT/ID.json and OUT/ID.out; `turns` writes OUT/turns.json, the seconds of each run (original, changed, and
back), and what each run printed: programs print the times of their own steps, which tell what the start's noise hides. The change `tool`
runs the original under the tool, `tool --no-trace` with that flag.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
TOOL = HERE / "bottleneck"
LONGEST = 30  # seconds of one run


def programs() -> dict[str, dict]:
    """The bench's programs with what differs on a device, by name."""
    bench = {p["id"]: p for p in json.loads((HERE / "bench/public/programs.json").read_text())}
    mine = json.loads((HERE / "bench/gpu/public.json").read_text())
    return {p["id"]: {**bench[p["id"]], "before": [], "changes": [], **p} for p in mine}


def lay(program: dict, checkouts: pathlib.Path, tree: pathlib.Path) -> None:
    """Copies a program's pinned files to a folder and makes its data there."""
    for line in (HERE / "bench/public/files.txt").read_text().splitlines():
        owner, _, digest, path = line.split(maxsplit=3)
        if owner != program["repository"] or not any(path == p or path.startswith(p.rstrip("/") + "/") for p in program["paths"]):
            continue
        text = (checkouts / owner.replace("/", "+") / path).read_bytes()
        if hashlib.sha256(text).hexdigest() != digest:
            raise SystemExit(f"{path} of {owner} is not the pinned one")
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(text)
    for data in program.get("data") or []:
        subprocess.run([sys.executable, HERE / "bench/public/data/make.py", *data], cwd=folder(program, tree), check=True)


def folder(program: dict, tree: pathlib.Path) -> pathlib.Path:
    return tree / (program.get("folder") or "")


def environment(program: dict, change: dict, tree: pathlib.Path) -> dict[str, str]:
    given = {**(program.get("environment") or {}), **change.get("environment", {})}
    return {**os.environ, **{k: v.replace("{tree}", str(tree)) for k, v in given.items()}}


def edit(change: dict, tree: pathlib.Path) -> None:
    """Makes a change's edits, from below, as bench/public does."""
    for e in sorted(change.get("edits", []), key=lambda e: -e["first"]):
        path = tree / e["file"]
        lines = path.read_text().split("\n")
        first = lines[e["first"] - 1]
        if e["old"] not in first:
            raise SystemExit(f"{e['file']}:{e['first']}: {e['old']!r} is not in the line")
        text = ([first.replace(e["old"], e["new"], 1)] if e.get("new") else []) + e.get("text", [])
        lines[e["first"] - 1 : e.get("last", e["first"])] = text
        path.write_text("\n".join(lines))


def run(program: dict, change: dict, tree: pathlib.Path, out: pathlib.Path, tool: tuple = ()) -> tuple[float, int]:
    """The seconds and the exit status of one run; one that is too long is interrupted, as its user would."""
    command = ["timeout", "-k", "10", "-s", "INT", str(LONGEST), *tool, sys.executable, *change.get("command", program["command"])]
    variables = environment(program, change, tree)
    began = time.perf_counter()
    with open(out, "w") as file:
        status = subprocess.run(command, cwd=folder(program, tree), env=variables, stdout=file, stderr=file).returncode
    return time.perf_counter() - began, status


def begin(name: str, ready: dict, work: pathlib.Path) -> tuple[dict, pathlib.Path]:
    """A program and its folder, once its data is there and what must run before it has run."""
    ready[name].result()
    program, tree = programs()[name], work / name / "original"
    for before in program["before"]:
        subprocess.run([sys.executable, *before], cwd=folder(program, tree), check=True, stdout=subprocess.DEVNULL)
    return program, tree


def sessions(out: pathlib.Path, ends: float, work: pathlib.Path, ready: dict) -> None:
    for name in ready:
        if time.time() > ends:
            print(name, "no time left", flush=True)
            continue
        try:
            program, tree = begin(name, ready, work)
            tool = (TOOL, "run", "--out", out / name, "--json", out / f"{name}.json", "-o", out / f"{name}.txt", "--")
            took, status = run(program, {}, tree, out / f"{name}.out", tool)
            first = (out / f"{name}.txt").read_text().strip().split("\n")[:2] if (out / f"{name}.txt").exists() else []
            print(name, f"exit {status}, {took:.1f} s:", *first, flush=True)
        except Exception as error:
            print(name, "failed:", error, flush=True)


def turns(out: pathlib.Path, ends: float, work: pathlib.Path, ready: dict, wanted: dict[str, list[str]]) -> None:
    results = {}
    for name, changes in wanted.items():
        if time.time() > ends:
            print(name, "no time left", flush=True)
            continue
        try:
            program, tree = begin(name, ready, work)
            sides = {"original": ({}, tree), **{change: ({}, tree) for change in changes if change.startswith("tool")}}
            for change in program["changes"]:
                if change["name"] in changes:
                    copy = work / name / change["name"]
                    shutil.copytree(tree, copy)
                    edit(change, copy)
                    sides[change["name"]] = (change, copy)
            times = results[name] = {side: [] for side in sides}
            for side in [*sides, *reversed(sides)]:
                shutil.rmtree(work / name / "session", ignore_errors=True)
                tool = (TOOL, "run", *side.split()[1:], "--out", work / name / "session", "-o", out / f"{name}.txt", "--")
                tool = tool if side.startswith("tool") else ()
                took, status = run(program, *sides[side], out / f"{name}.{side}.{len(times[side])}.out", tool)
                times[side].append(round(took, 2) if status == 0 else None)
            print(name, times, flush=True)
        except Exception as error:
            print(name, "failed:", error, flush=True)
        (out / "turns.json").write_text(json.dumps(results, indent=1))


def main() -> None:
    mode, seconds = sys.argv[1], float(sys.argv[3])
    ends = time.time() + seconds
    out, checkouts = pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[4]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    known = programs()
    wanted: dict[str, list[str]] = {}
    for text in sys.argv[5:] or known:
        name, _, change = text.partition("/")
        wanted.setdefault(name, []).append(change)
    work = pathlib.Path(tempfile.mkdtemp())
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        ready = {name: pool.submit(lay, known[name], checkouts, work / name / "original") for name in wanted}
        concurrent.futures.wait(ready.values())  # nothing else runs beside a program
        for name, future in ready.items():
            if future.exception():
                print(name, "cannot be prepared:", future.exception(), flush=True)
        print(f"prepared ({time.time() - ends + seconds:.0f} s)", flush=True)
        if mode == "sessions":
            sessions(out, ends, work, ready)
        else:
            turns(out, ends, work, ready, wanted)


if __name__ == "__main__":
    main()
