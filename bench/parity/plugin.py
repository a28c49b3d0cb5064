"""Run the TensorBoard plugin (torch-tb-profiler) on traces and print its numbers as one JSON line per file.

Usage: plugin.py ROOT FILE...          FILE relative to ROOT; needs torch-tb-profiler, pandas and numpy, but not TensorBoard
"""

import contextlib
import io
import logging
import tempfile
from pathlib import Path

from lines import print_analyses
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.overall_parser import ProfileRole

logging.disable(logging.CRITICAL)

ROLES = ("Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CpuOp", "Other", "Total")


def devices(parser):
    """Utilisation, estimated SM efficiency and achieved occupancy (per cent) by device, None where the trace lacks them."""
    out = {}
    for gpu in parser.gpu_ids:
        out[str(gpu)] = {
            "utilization": parser.gpu_utilization[gpu],
            "sm_efficiency": parser.avg_approximated_sm_efficiency_per_device[gpu] if parser.blocks_per_sm_count[gpu] > 0 else None,
            "occupancy": parser.avg_occupancy_per_device[gpu] if parser.occupancy_count[gpu] > 0 else None,
        }
    return out


def kernels(profile):
    """Count, sum and use of Tensor Cores by name of a kernel."""
    if profile.kernel_stat is None:
        return None
    return {str(name): [float(row["count"]), float(row["sum"]), bool(row["tc_used"])] for name, row in profile.kernel_stat.iterrows()}


def operators(profile):
    """Calls, and CPU and device times of each operator, total and own, in microseconds."""
    return {
        op.name: [op.calls, op.host_duration, op.self_host_duration, op.device_duration, op.self_device_duration]
        for op in profile.op_list_groupby_name
    }


def analyse(root, name):
    """All of the plugin's numbers for one file."""
    out = {"file": name, "errors": {}}
    try:
        with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as cache:
            profile = RunProfileData.parse("worker", 0, str(Path(root) / name), cache)
    except Exception as error:  # the plugin raises whatever an unexpected file makes its code raise
        out["errors"]["load"] = repr(error)[:200]
        return out
    out["steps"] = [
        {"name": step, **{role: float(cost.costs[ProfileRole[role]]) for role in ROLES}}
        for step, cost in zip(profile.steps_names, profile.steps_costs, strict=False)
    ]
    out["devices"] = devices(profile.gpu_metrics_parser)
    out["kernels"] = kernels(profile)
    out["operators"] = operators(profile)
    return out


if __name__ == "__main__":
    print_analyses(analyse)
