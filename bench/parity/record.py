"""Record small programs with torch.profiler and keep torch's own tables beside each trace.

Usage: record.py OUT            (the interpreter decides which PyTorch)

For every case OUT/<case>.json.gz is the trace as PyTorch wrote it and OUT/<case>.tables.json.gz holds, per grouping, the rows of
key_averages() with every column, in nanoseconds and bytes. TestTorchTables in internal/analyse reads both.
"""

import gzip
import json
import sys
import threading
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

try:
    from torch._C._profiler import _ExperimentalConfig
except ImportError:  # before 1.13
    _ExperimentalConfig = None

GROUPINGS = {"plain": {}, "shapes": {"group_by_input_shape": True}, "stack3": {"group_by_stack_n": 3}}


class Net(torch.nn.Module):
    """Convolutions, a batched product and a linear layer: every operator that has a FLOP formula."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.group = torch.nn.Conv2d(8, 8, 3, stride=2, groups=4, dilation=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.head = torch.nn.Linear(8 * 7 * 7, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.group(torch.relu(self.conv(x)))))
        y = torch.bmm(x.flatten(2), x.flatten(2).transpose(1, 2))
        z = torch.baddbmm(y, y, y)
        return self.head(x.flatten(1)) + z.sum() * 0.0


def train(steps, prof=None):
    """A few steps of training with an annotation inside each."""
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        with record_function("forward pass"):
            loss = torch.nn.functional.cross_entropy(net(torch.randn(4, 3, 16, 16)), torch.randint(0, 10, (4,)))
        loss.backward()
        optimizer.step()
        if prof is not None:
            prof.step()


def recursive(depth):
    """Annotations of one name inside one another: torch removes only children of the same name."""
    with record_function("same name"):
        if depth:
            recursive(depth - 1)
        else:
            torch.ones(3) @ torch.ones(3)


def odd(_prof=None):
    """Lists of tensors, zero-element tensors, names with blanks, nested equal names, work on a second thread."""
    recursive(3)
    torch.cat([torch.ones(2, 3), torch.ones(1, 3)])
    torch.stack([torch.ones(0), torch.ones(0)])
    with record_function("a name with blanks"):
        torch.add(torch.ones(5), 2)
    thread = threading.Thread(target=lambda: torch.ones(64, 64).mm(torch.ones(64, 64)))
    thread.start()
    thread.join()
    kept = [torch.empty(1000)]
    kept.append(torch.ones(10).sum())
    return kept


def options(name):
    """Keyword arguments of profile() for a case."""
    extra = {"record_shapes": True, "profile_memory": True, "with_flops": True}
    if name.endswith("stack"):
        extra["with_stack"] = True
        if _ExperimentalConfig is not None:
            extra["experimental_config"] = _ExperimentalConfig(verbose=True)
    if name.endswith("plain"):
        extra = {}
    if name.startswith("steps"):
        extra["schedule"] = schedule(wait=1, warmup=1, active=2, repeat=1)
    return extra


def row(average):
    """One row of torch's table as numbers; times in integer nanoseconds."""

    def value(*names):
        for name in names:
            if hasattr(average, name):
                return getattr(average, name)
        return 0

    def ns(*names):
        return round(value(*names) * 1000)

    return {
        "name": average.key,
        "count": average.count,
        "self_cpu": ns("self_cpu_time_total"),
        "cpu": ns("cpu_time_total"),
        "self_device": ns("self_device_time_total", "self_cuda_time_total"),
        "device": ns("device_time_total", "cuda_time_total"),
        "self_cpu_bytes": value("self_cpu_memory_usage"),
        "cpu_bytes": value("cpu_memory_usage"),
        "self_device_bytes": value("self_device_memory_usage", "self_cuda_memory_usage"),
        "device_bytes": value("device_memory_usage", "cuda_memory_usage"),
        "flops": int(average.flops or 0),
        "shapes": str(average.input_shapes) if average.input_shapes else "",
        "stack": list(average.stack or []),
        "device_type": 0 if "CPU" in str(average.device_type) else 1,
        "annotation": bool(getattr(average, "is_user_annotation", False)),
    }


def record(out, name, work):
    """Run one case and write its trace and its tables."""
    with profile(activities=[ProfilerActivity.CPU], **options(name)) as prof:
        work(prof)
    prof.export_chrome_trace(str(out / f"{name}.json.gz"))
    tables = {kind: [row(a) for a in prof.key_averages(**arguments)] for kind, arguments in GROUPINGS.items()}
    document = {"torch": torch.__version__, "case": name, "tables": tables}
    with gzip.GzipFile(out / f"{name}.tables.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(document, indent=0).encode())


def main():
    """Record every case into the folder given."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    train(1)
    record(out, "train", lambda _: train(2))
    record(out, "train-plain", lambda _: train(2))
    record(out, "train-stack", lambda _: train(1))
    record(out, "steps", lambda prof: train(5, prof))
    record(out, "odd", odd)
    record(out, "odd-stack", odd)


if __name__ == "__main__":
    main()
