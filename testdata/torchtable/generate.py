"""Makes the fixtures of the torch-style tables: real profiles with the text that torch itself prints from them.

Run with the interpreter of `scripts/env.sh newest`, in this directory. Each case gets
  <case>.trace.json.gz  the trace, as torch's C++ writer exports it
  <case>.json.gz        the rows of key_averages() with every digit, and a list of tables: arguments and torch's text
The case `made` has no trace: rows that a machine without a GPU cannot record (devices, legacy profiler, odd names), through
torch's own table code.
"""

import gzip
import itertools
import json
import os
import random
import tempfile
import warnings

import torch
from torch.autograd import DeviceType
from torch.autograd.profiler_util import EventList, FunctionEventAvg, _build_table
from torch.profiler import ProfilerActivity, profile, record_function

SORT_KEYS = [
    None,
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "cuda_time_total",
    "self_cuda_time_total",
    "device_time",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "self_cuda_memory_usage",
    "count",
    "flops",
]


def convolution():
    """A small classifier: two training steps, so that averages of odd sums of nanoseconds occur."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 14 * 14, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(4, 3, 16, 16)

    def step():
        with record_function("forward"):
            loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def recurrent():
    """Lists of tensors as inputs, nested calls of one name, and matrix products of several sizes."""
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(8, 8, 1)
    head = torch.nn.Linear(8, 3)
    x = torch.randn(2, 2, 8)

    def step():
        out, _ = lstm(x)
        y = torch.stack([head(o) for o in out.unbind()])
        torch.cat([y, y]).softmax(-1).sum().backward()

    return step


CASES = {
    "plain": (convolution, {}, {}),
    "shapes": (recurrent, {"record_shapes": True}, {"group_by_input_shape": True}),
    "memory": (convolution, {"profile_memory": True, "record_shapes": True, "with_flops": True}, {}),
    "flops-shapes": (
        convolution,
        {"profile_memory": True, "record_shapes": True, "with_flops": True},
        {"group_by_input_shape": True},
    ),
    "stacks": (
        recurrent,
        {"with_stack": True, "experimental_config": torch._C._profiler._ExperimentalConfig(verbose=True)},
        {"group_by_stack_n": 4},
    ),
    "everything": (
        convolution,
        {
            "with_stack": True,
            "profile_memory": True,
            "record_shapes": True,
            "with_flops": True,
            "experimental_config": torch._C._profiler._ExperimentalConfig(verbose=True),
        },
        {"group_by_stack_n": 3, "group_by_input_shape": True},
    ),
}


def row(avg):
    """One row with every digit: repr of a float reads back as the same float."""
    shapes = avg.input_shapes
    return {
        "name": avg.key,
        "overload": avg.overload_name or "",
        "self_cpu_us": avg.self_cpu_time_total,
        "cpu_us": avg.cpu_time_total,
        "self_device_us": avg.self_device_time_total,
        "device_us": avg.device_time_total,
        "self_cpu_bytes": avg.self_cpu_memory_usage,
        "cpu_bytes": avg.cpu_memory_usage,
        "self_device_bytes": avg.self_device_memory_usage,
        "device_bytes": avg.device_memory_usage,
        "count": avg.count,
        "flops": avg.flops or 0,
        "node_id": avg.node_id,
        "input_shapes": str(shapes) if shapes is not None else "",
        "stack": list(avg.stack or []),
        "on_device": avg.device_type != DeviceType.CPU,
        "legacy": bool(avg.is_legacy),
        "async": bool(avg.is_async),
        "user_annotation": bool(avg.is_user_annotation),
        "top_level": avg.cpu_parent is None,
    }


def matrix(rng, count):
    """Combinations of table() arguments: each sort key, and the rest drawn."""
    sorts = itertools.cycle(SORT_KEYS)
    for i in range(count):
        yield {
            "sort_by": next(sorts),
            "row_limit": 100 if i == 0 else rng.choice([-1, 0, 1, 3, 5, 10, 100]),
            "max_src_column_width": rng.choice([75, 75, 20, 8, None]),
            "max_name_column_width": rng.choice([55, 55, 30, 12, None]),
            "max_shapes_column_width": rng.choice([80, 80, 15, None]),
            "header": rng.choice([None, None, "A title"]),
            "top_level_events_only": rng.random() < 0.25,
            "time_unit": rng.choice([None, None, "s", "ms", "us"]),
        }


def write(name, document):
    with gzip.GzipFile(f"{name}.json.gz", "wb", mtime=0) as f:
        f.write(json.dumps(document).encode())


def real(name, rng):
    make, options, grouping = CASES[name]
    step = make()
    step()
    with profile(activities=[ProfilerActivity.CPU], **options) as prof:
        for _ in range(2):
            step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        prof.export_chrome_trace(path)
        with open(path, "rb") as f, gzip.GzipFile(f"{name}.trace.json.gz", "wb", mtime=0) as out:
            out.write(f.read())
        stacks = {}
        if options.get("with_stack"):
            path = os.path.join(folder, "stacks.txt")
            prof.export_stacks(path, "self_cpu_time_total")
            with open(path) as f:
                stacks["self_cpu_time_total"] = f.read()
    averages = prof.key_averages(**grouping)
    tables = [{"args": args, "text": averages.table(**args)} for args in matrix(rng, 24)]
    document = {
        "torch": torch.__version__,
        "group_by_input_shape": grouping.get("group_by_input_shape", False),
        "group_by_stack_n": grouping.get("group_by_stack_n", 0),
        "device": None,
        "profile_memory": options.get("profile_memory", False),
        "with_flops": options.get("with_flops", False),
        "rows": [row(a) for a in averages],
        "tables": tables,
        "stacks": stacks,
    }
    write(name, document)


def made_rows(rng):
    long_path = "/a/very/long/path/that/does/not/fit/in/the/column/of/the/table/model.py(77): forward"
    names = ["aten::mm", "void kernel<int>(float*)", "été::größe", "x" * 80, "Memcpy HtoD (Pinned -> Device)", "ab", "[memory]"]
    averages = []
    for name in names * 3:
        a = FunctionEventAvg()
        a.key, a.count, a.node_id = name, rng.choice([1, 2, 7, 1000]), -1
        a.use_device = "cuda"
        a.is_user_annotation = rng.random() < 0.2
        a.is_legacy = rng.random() < 0.1
        a.is_async = rng.random() < 0.1
        a.device_type = DeviceType.CUDA if "kernel" in name or "Memcpy" in name else DeviceType.CPU
        a.cpu_time_total = 0 if a.device_type == DeviceType.CUDA else rng.choice([0.001, 5, 999.9995, 1e6, 12345.6785, 59.5])
        a.self_cpu_time_total = a.cpu_time_total * rng.random() - rng.choice([0, 0.5])
        a.device_time_total = rng.choice([0, 3.5, 2e6, 17.25])
        a.self_device_time_total = min(a.device_time_total, rng.choice([0, 1.125, 1e6]))
        a.cpu_memory_usage, a.self_cpu_memory_usage = rng.choice([0, -5, 1023, 1024, 5 << 20, -(3 << 30)]), rng.choice([0, 7])
        a.device_memory_usage, a.self_device_memory_usage = rng.choice([0, 2 << 30]), rng.choice([0, -7, 1 << 21])
        a.flops = rng.choice([0, 999, 1000, 10**6, 10**15, 123456789])
        a.input_shapes = rng.choice([[], [[2, 3], []], [[4, 128, 1024, 1024], [128, 128, 3, 3], [], [], [], [], []]])
        a.stack = rng.choice([[], ["train.py(3): main"], [long_path, "b(1): é"]])
        a.overload_name = ""
        a.cpu_parent = rng.choice([None, a])
        averages.append(a)
    return averages


def made(rng):
    tables = []
    for i, args in enumerate(matrix(rng, 60)):
        rows = made_rows(rng)[: rng.choice([1, 5, 21])]
        kind = i % 6
        for a in rows:
            if kind != 1:
                a.stack = []
            if kind != 2:
                a.input_shapes = ""
            if kind == 3:
                a.node_id = 0
            if kind == 4:
                a.overload_name = rng.choice(["", "out", "Tensor_" * 12])
            if kind == 5:  # no device was profiled
                a.device_time_total = a.self_device_time_total = a.self_device_memory_usage = 0
                a.use_device, a.device_type = None, DeviceType.CPU
        memory, flops = rng.random() < 0.5, rng.random() < 0.5
        if kind == 5:
            device = None
        else:
            device = "cuda"
        dump = [row(a) for a in rows]
        events = EventList(rows, use_device=device, profile_memory=memory, with_flops=flops)
        try:
            text = _build_table(events, profile_memory=memory, with_flops=flops, **args)
        except (AssertionError, AttributeError):
            # torch fails on a device time without a device total; such a table does not exist.
            continue
        tables.append({"args": args, "text": text, "rows": dump, "device": device, "profile_memory": memory, "with_flops": flops})
    write("made", {"torch": torch.__version__, "rows": [], "tables": tables})


def main():
    warnings.simplefilter("ignore")
    rng = random.Random(7)
    made(rng)
    for name in CASES:
        real(name, rng)


if __name__ == "__main__":
    main()
