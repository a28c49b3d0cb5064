"""Makes <name>.json.gz: torch's rows and tables for traces that were recorded on GPUs by other people.

No GPU is needed: the rows of a trace file are handed to torch's own code that turns profiler events into tables, as if
its profiler had just collected them. Usage, with the interpreter of `scripts/env.sh newest`: generate.py FOLDER_OF_TRACES
"""

import gzip
import json
import random
import re
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

from torch.autograd import DeviceType
from torch.autograd import profiler as autograd_profiler
from torch.autograd.profiler_util import EventList

sys.path.insert(0, str(Path(__file__).parent.parent))
from generate import matrix, row, write  # noqa: E402

# Files whose "External id" names operators; in those of PyTorch 1.12 to 2.4 it may be a number of the device's.
TRACES = {
    "h100-qwen": "tracelens-qwen-h100-vs-mi300/h100_*.json.gz",
    "h100-vit": "tracelens-vit-h100-vs-mi300/h100_*.json.gz",
    "mi300-vit": "tracelens-vit-h100-vs-mi300/mi300_*.json.gz",
    "mi300-triton": "tracelens-small/torch_compile_triton_mi300.json.gz",
    "b200-experts": "torchao/ref_ep_moe_fwd_b200_rank0of2.json.gz",
}
CPU = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver", "overhead"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"}


class KinetoEvent:
    """A row of a trace file with the methods of torch's C++ event."""

    def __init__(self, row, base):
        self.row, self.args = row, row.get("args", {})
        self.start = base + int(Decimal(str(row["ts"])) * 1000)
        self.length = int(Decimal(str(row.get("dur", 0))) * 1000)
        self.cat = row.get("cat")
        self.own = self.cat in ("cpu_op", "user_annotation")
        self.external = int(self.args.get("External id", 0))

    def __getattr__(self, name):
        constants = {
            "is_hidden_event": False,
            "overload_name": "",
            "concrete_inputs": [],
            "kwinputs": {},
            "stack": [],
            "scope": 0,
            "flops": 0,
            "activity_type": "",
            "extra_meta": None,
            "typed_metadata": None,
            "flow_id": 0,
            "flow_type": 0,
            "flow_start": False,
            "structured_input_shapes": [],
            "structured_input_strides": [],
            "dtypes": [],
            "python_id": -1,
            "python_parent_id": -1,
            "python_module_id": -1,
            "cuda_elapsed_us": -1,
            "privateuse1_elapsed_us": -1,
            "device_index": 0,
            "device_resource_id": 0,
        }
        return lambda: constants[name]

    def name(self):
        return self.row["name"]

    def start_ns(self):
        return self.start

    def end_ns(self):
        return self.start + self.length

    def device_type(self):
        if self.cat == "cpu_instant_event":
            return DeviceType(self.args["Device Type"])
        return DeviceType.CUDA if self.cat in DEVICE else DeviceType.CPU

    def is_async(self):
        # A file does not say so: the span of a collective begins on the caller's thread and ends on the backend's.
        return self.cat == "user_annotation" and self.row["name"].startswith("nccl:")

    def nbytes(self):
        return self.args["Bytes"]

    def start_thread_id(self):
        # What the device's collector saw has no thread of torch's.
        if self.cat not in ("cpu_op", "user_annotation", "python_function"):
            return 0
        return int(self.row["tid"]) + 1

    end_thread_id = start_thread_id

    def fwd_thread_id(self):
        return self.args.get("Fwd thread id", 0)

    def sequence_nr(self):
        return self.args.get("Sequence number", -1)

    def correlation_id(self):
        return self.external if self.own else self.args.get("correlation", 0)

    def linked_correlation_id(self):
        return 0 if self.own or self.cat == "gpu_user_annotation" else self.external

    def external_id(self):
        return self.external

    def shapes(self):
        dims = self.args.get("Input Dims", [])
        return [[] if any(isinstance(size, list) for size in d) else d for d in dims]

    def is_user_annotation(self):
        return self.cat in ("user_annotation", "gpu_user_annotation")

    def is_python_function(self):
        return self.cat == "python_function"


def load(path):
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as f:
        trace = json.load(f)
    base = trace.get("baseTimeNanoseconds", 0)
    events, start = [], None
    for e in trace["traceEvents"]:
        cat = e.get("cat")
        if e["ph"] == "X" and (cat in CPU or cat in DEVICE) or e.get("name") == "[memory]":
            events.append(KinetoEvent(e, base))
        elif cat == "Trace" and re.match(r"PyTorch Profiler \(", e["name"]):
            start = KinetoEvent(e, base).start
    return SimpleNamespace(events=lambda: events, trace_start_ns=lambda: start)


def main():
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    rng = random.Random(11)
    for name, pattern in TRACES.items():
        path = next(iter(sorted(folder.glob(pattern))))
        result = load(path)
        functions = autograd_profiler.profile._parse_kineto_results(SimpleNamespace(use_device="cuda"), result)
        events = EventList(functions, use_device="cuda", profile_memory=True, with_flops=False)
        events._build_tree()
        averages = events.key_averages()
        write(
            name,
            {
                "trace": str(path.relative_to(folder)),
                "device": "cuda",
                "profile_memory": True,
                "with_flops": False,
                "rows": [row(a) for a in averages],
                "tables": [{"args": args, "text": averages.table(**args)} for args in matrix(rng, 12)],
            },
        )


if __name__ == "__main__":
    main()
