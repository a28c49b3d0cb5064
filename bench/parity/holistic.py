"""Run Holistic Trace Analysis on traces and print its numbers as one JSON line per file.

Usage: holistic.py ROOT FILE...          FILE relative to ROOT

Every analysis runs by itself, so that one that fails on a file (HTA expects streams, launches or steps in many places) leaves
the others' numbers; the failure is kept as text.
"""
# ruff: noqa: E402

import logging
import os
import warnings
from pathlib import Path

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # else HTA cuts every event to whole microseconds

import pandas as pd
from hta.analyzers.critical_path_analysis import CPEdgeType
from hta.trace_analysis import TraceAnalysis
from lines import print_analyses

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def temporal(analysis, rank):
    """Total idle, compute, other and overall time in microseconds."""
    row = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    return {key: float(row[key]) for key in row.index if key.endswith("(us)")}


def idle(analysis, rank):
    """Idle time by stream and category."""
    frame, _ = analysis.get_idle_time_breakdown(ranks=[rank], visualize=False)
    return [[int(r["stream"]), r["idle_category"], float(r["idle_time"])] for _, r in frame.iterrows()]


def kernels(analysis, rank):
    """Time by set of concurrent kernel types, and by kernel name."""
    types, rows = analysis.get_gpu_kernel_breakdown(visualize=False, duration_ratio=1.0, num_kernels=100000)
    return {
        "types": {r["kernel_type"]: float(r["sum"]) for _, r in types.iterrows()},
        "names": [
            [r["name"], r["kernel_type"], float(r["sum (us)"]), float(r["max (us)"]), float(r["min (us)"])] for _, r in rows.iterrows()
        ],
    }


def overlap(analysis, rank):
    """Share of communication that is hidden behind computation, in per cent."""
    value = analysis.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"]
    return None if pd.isna(value) else float(value)


def launches(analysis, rank):
    """Sums of the join of launches and device work."""
    frame = analysis.get_cuda_kernel_launch_stats(ranks=[rank], visualize=False)[rank]
    return {
        "count": len(frame),
        "cpu": float(frame["cpu_duration"].sum()),
        "gpu": float(frame["gpu_duration"].sum()),
        "delay": float(frame["launch_delay"].sum()),
    }


def queue(analysis, rank):
    """Number of changes and greatest length of each stream's queue."""
    frame = analysis.get_queue_length_summary(ranks=[rank])
    return {str(key[1]): [float(row[("queue_length", "count")]), float(row[("queue_length", "max")])] for key, row in frame.iterrows()}


def bandwidth(analysis, rank):
    """Number of points of each kind of copy's bandwidth series, and its maximum."""
    frame = analysis.get_memory_bw_summary(ranks=[rank])
    return {str(key[1]): {str(k): float(v) for k, v in row.items()} for key, row in frame.iterrows()}


def critical(analysis, rank):
    """Length of the critical path of the first step (of the whole trace where it has no steps), by kind of edge."""
    steps = any(name.startswith("ProfilerStep") for name in analysis.t.symbol_table.get_sym_table())
    graph, ok = analysis.critical_path_analysis(rank=rank, annotation="ProfilerStep" if steps else "", instance_id=0)
    if not ok:
        return None
    sums = {}
    for edge in graph.critical_path_edges_set:
        sums[edge.type.name] = sums.get(edge.type.name, 0.0) + float(edge.weight)
    sums.setdefault(CPEdgeType.OPERATOR_KERNEL.name, 0.0)
    return sums


def counts(analysis, rank):
    """Events by category, of the rows that HTA kept."""
    trace = analysis.t.get_trace(rank)
    names = analysis.t.symbol_table.get_sym_table()
    return {names[cat]: int(n) for cat, n in trace["cat"].value_counts().items()}


ANALYSES = {f.__name__: f for f in (temporal, idle, kernels, overlap, launches, queue, bandwidth, critical, counts)}


def analyse(root, name):
    """All of HTA's numbers for one file."""
    out = {"file": name, "errors": {}}
    try:
        analysis = TraceAnalysis(trace_files={0: str(Path(root) / name)}, include_last_profiler_step=True)
    except Exception as error:  # HTA raises whatever its libraries raise
        out["errors"]["load"] = repr(error)[:200]
        return out
    rank = next(iter(analysis.t.traces))
    for key, function in ANALYSES.items():
        try:
            out[key] = function(analysis, rank)
        except Exception as error:
            out["errors"][key] = repr(error)[:200]
    return out


if __name__ == "__main__":
    print_analyses(analyse)
