"""Compares samplers of Python, alternating in one run: CPU time per sample, samples, and the program's slowdown.

usage: compare.py BOTTLENECK [--rounds N] [--seconds S] [--rate HZ] [--peers DIR] [PYTHON...]

DIR holds the programs py-spy and austin; those that are missing are left out. Each sampler watches the same program
(deep.py: pure Python, 23 frames), which says how long its fixed work took. The CPU time of a sampler is that of its
whole process, start included; for bottleneck the sampling itself is shown too, because attach also makes a report.
"""

import argparse
import glob
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def children_cpu():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


class Program:
    """The program that is watched."""

    def __init__(self, python, loops):
        self.proc = subprocess.Popen(
            [python, os.path.join(HERE, "deep.py"), *([str(loops)] if loops else [])], stdout=subprocess.PIPE, text=True
        )
        word, loops = self.proc.stdout.readline().split()
        assert word == "ready"
        self.loops = int(loops)

    def wall(self):
        word, seconds = self.proc.stdout.readline().split()
        assert word == "wall"
        self.proc.wait()
        return float(seconds)


def run_sampler(command, program):
    """Runs a sampler until the program ends; returns (program's wall time, sampler's CPU time)."""
    sampler = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    wall = program.wall()  # reaps the program: its CPU time is known before the sampler's
    before = children_cpu()
    sampler.wait()
    return wall, children_cpu() - before


def count_folded(path):
    total = 0
    try:
        with open(path, errors="replace") as f:
            for line in f:
                tail = line.rsplit(None, 1)
                if len(tail) == 2 and tail[1].isdigit() and not line.startswith("#"):
                    total += 1 if path.endswith(".austin") else int(tail[1])
    except OSError:
        pass
    return total


def bottleneck(binary, rate, pid, folder):
    out = os.path.join(folder, "session")
    return [binary, "attach", "--rate", str(rate), "--out", out, str(pid)], out


def bottleneck_stats(out):
    for path in glob.glob(os.path.join(out, "launcher-*", "tree.jsonl.gz")):
        with gzip.open(path, "rt") as f:
            for line in f:
                row = json.loads(line)
                if row[0] == "sampler":
                    return row[2]
    return {}


def measure(name, python, loops, args):
    with tempfile.TemporaryDirectory() as folder:
        program = Program(python, loops)
        pid, rate = program.proc.pid, args.rate
        row = {"own": None, "failed": None}
        if name == "plain":
            row.update(wall=program.wall(), cpu=0.0, samples=0)
            return row
        if name == "bottleneck":
            command, out = bottleneck(args.bottleneck, rate, pid, folder)
            row["wall"], row["cpu"] = run_sampler(command, program)
            stats = bottleneck_stats(out)
            row.update(samples=stats.get("samples", 0), own=stats.get("cpu_ns", 0) / 1e9, failed=stats.get("failed", 0))
            return row
        peer = os.path.join(args.peers, name.split()[0])
        if name.startswith("py-spy"):
            out = os.path.join(folder, "out.raw")
            command = [peer, "record", "-r", str(rate), "-d", "3600", "-f", "raw", "-o", out, "-p", str(pid)]
            command += ["--nonblocking"] if "nonblocking" in name else []
        else:
            out = os.path.join(folder, "out.austin")
            command = [peer, "-i", f"{1_000_000 // rate}us", "-o", out, "-p", str(pid)]
        row["wall"], row["cpu"] = run_sampler(command, program)
        row["samples"] = count_folded(out)
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bottleneck")
    parser.add_argument("python", nargs="*", default=[sys.executable])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--peers", default="/usr/bin")
    args = parser.parse_intermixed_args()
    names = ["plain", "bottleneck"]
    for peer in ("py-spy", "py-spy nonblocking", "austin"):
        if os.access(os.path.join(args.peers, peer.split()[0]), os.X_OK):
            names.append(peer)
    for python in args.python:
        version = subprocess.run([python, "-V"], capture_output=True, text=True).stdout.strip()
        first = Program(python, 0)
        first.wall()
        rows = {n: [] for n in names}
        for _ in range(args.rounds):
            for n in names:
                rows[n].append(measure(n, python, first.loops, args))
        plain = statistics.median(r["wall"] for r in rows["plain"])
        print(f"{version}, {args.rate} Hz, {args.rounds} rounds, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{'sampler':<20} {'program s':>9} {'slowdown':>9} {'samples':>8} {'µs CPU/sample':>14} {'sampling alone':>15} {'failed':>7}")
        for n in names:
            med = {k: statistics.median(r[k] for r in rows[n] if r[k] is not None) for k in ("wall", "cpu", "samples")}
            per = f"{1e6 * med['cpu'] / med['samples']:.1f}" if med["samples"] else "-"
            own = [1e6 * r["own"] / r["samples"] for r in rows[n] if r["own"] and r["samples"]]
            alone = f"{statistics.median(own):.1f}" if own else "-"
            failed = sum(r["failed"] or 0 for r in rows[n]) if n == "bottleneck" else "-"
            slower = 100 * (med["wall"] / plain - 1)
            print(f"{n:<20} {med['wall']:9.2f} {slower:8.1f}% {med['samples']:8.0f} {per:>14} {alone:>15} {failed:>7}")


if __name__ == "__main__":
    main()
