"""Calls a model of which Dynamo is loaded, as libraries have it, and then compiled; prints what Dynamo did and what was computed."""

import hashlib
import sys

import torch
from torch import nn

early = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
early(torch.ones(1, 8))
import torch._dynamo  # noqa: E402, F401


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x):
        return x + self.layers(x)


def main():
    torch.manual_seed(0)
    net, x, seen = Net(), torch.randn(4, 8), []
    with torch.no_grad():
        for _ in range(400):
            x = net(x).tanh()
        seen.append(x)
        if "compile" in sys.argv:
            for options in ({}, {"fullgraph": True}, {"dynamic": True}):
                other = torch.compile(Net(), backend="eager", **options)
                for _ in range(6):
                    seen.append(other(x))
            net.compile(backend="eager")
            seen.append(net(x))
            function = torch.compile(lambda y: net(y) * 2, backend="eager", fullgraph=True)
            seen.append(function(x))
            exported = torch.export.export(Net().eval(), (x,))
            seen.append(exported.module()(x))
    digest = hashlib.sha256(b"".join(y.numpy().tobytes() for y in seen)).hexdigest()[:16]
    print(digest, nn.Module.__call__.__qualname__)
    if "compile" in sys.argv:
        from torch._dynamo.utils import counters

        print(dict(counters["stats"]), sum(counters["recompiles"].values()), dict(counters["graph_break"]))


main()
