"""Makes timeline.trace.json.gz and timeline.json.gz: a training run's trace and torch's own memory timelines of it.

Run with the interpreter of `scripts/env.sh newest`, in this directory.
"""

import gzip
import json
import os
import tempfile
import warnings

import torch
from torch.profiler import ProfilerActivity, profile


def main():
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 32))
    optimizer = torch.optim.Adam(model.parameters())
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True) as prof:
        for _ in range(2):
            x = torch.randn(256, 64)
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        prof.export_chrome_trace(path)
        with open(path, "rb") as f, gzip.GzipFile("timeline.trace.json.gz", "wb", mtime=0) as out:
            out.write(f.read())
        prof.export_memory_timeline(os.path.join(folder, "t.json"), device="cpu")
        prof.export_memory_timeline(os.path.join(folder, "t.raw.json.gz"), device="cpu")
        with open(os.path.join(folder, "t.json")) as f, gzip.open(os.path.join(folder, "t.raw.json.gz")) as raw:
            document = {"torch": torch.__version__, "timeline": json.load(f), "raw": json.load(raw)}
    with gzip.GzipFile("timeline.json.gz", "wb", mtime=0) as f:
        f.write(json.dumps(document).encode())


if __name__ == "__main__":
    main()
