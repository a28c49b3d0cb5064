"""Loads traces with Holistic Trace Analysis and runs its temporal, kernel and idle analyses; prints what that cost."""

import logging
import resource
import sys
import time

logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis  # noqa: E402  (logging must be silent before the import)

imported = resource.getrusage(resource.RUSAGE_SELF).ru_utime
begin = time.time()
analysis = TraceAnalysis(trace_files=dict(enumerate(sys.argv[1:])), trace_dir="")
analysis.get_temporal_breakdown(visualize=False)
analysis.get_gpu_kernel_breakdown(visualize=False)
analysis.get_idle_time_breakdown(visualize=False)
use = resource.getrusage(resource.RUSAGE_SELF)
print(f"HTA: {time.time() - begin:.3f} s wall, {use.ru_utime - imported:.3f} s user after import, {use.ru_maxrss >> 10} MB peak")
