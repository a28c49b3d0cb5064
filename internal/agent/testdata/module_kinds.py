"""Modules of every kind, called inside and outside of windows: all that is printed has to be the same with and without the agent."""

import copy
import hashlib
import io
import pickle
import sys
import weakref

import torch
from torch import nn


class Own(nn.Module):
    """Defines __call__ itself."""

    def __call__(self, x):
        return super().__call__(x) + 1

    def forward(self, x):
        return x * 2


class Direct(nn.Module):
    """Passes nn.Module's __call__ by."""

    def __call__(self, x):
        return x - 1


class Wrapped(nn.Module):
    """Passes attributes on, as DistributedDataParallel and FSDP do, and compares by value."""

    def __init__(self, module):
        super().__init__()
        self.inner = module

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def __eq__(self, other):
        return isinstance(other, Wrapped)

    def __hash__(self):
        return 1

    def forward(self, x):
        return nn.Softmax(dim=-1)(self.inner(x))


class Raises(nn.Module):
    def forward(self, x):
        raise ValueError("from forward")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.blocks = nn.ModuleList([nn.Linear(8, 8), Own(), Direct()])
        self.wrapped = Wrapped(nn.Linear(8, 8))
        self.calls = 0
        self.first[0].register_forward_hook(self.count)

    def count(self, module, arguments, output):
        self.calls += 1

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.wrapped(x)


def digest(*tensors):
    return hashlib.sha256(b"".join(tensor.detach().numpy().tobytes() for tensor in tensors)).hexdigest()[:16]


def scripted(x):
    script = torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
    trace = torch.jit.trace(nn.Sequential(nn.Linear(8, 8), nn.Tanh()), x)
    return [script, trace]


def compiled(step):
    """Compiled before the windows, in one, and a module that breaks the graph: none may be compiled more often because of us."""
    kinds = []
    for module in (nn.Sequential(nn.Linear(8, 8), nn.ReLU()), Net().first, Wrapped(nn.Linear(8, 8))):
        kinds.append(torch.compile(module, backend="eager"))
    return kinds


def main():
    torch.manual_seed(0)
    net, x = Net(), torch.randn(4, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    others = scripted(x)
    optimized = []
    compile_too = "compile" in sys.argv
    losses = []
    for step in range(14):
        if compile_too and step in (0, 6):  # a window begins with step 6
            optimized += compiled(step)
        optimizer.zero_grad()
        loss = net(x).square().mean()
        for other in others + optimized:
            loss = loss + other(x).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)
        try:
            Raises()(x)
        except ValueError as error:
            assert str(error) == "from forward"
        again = pickle.loads(pickle.dumps(net))
        assert digest(again(x)) == digest(copy.deepcopy(net)(x)) == digest(net(x))
        assert pickle.loads(pickle.dumps(net.first.__call__))(x).shape == (4, 8)
        file = io.BytesIO()
        torch.save(net.state_dict(), file)
        assert sorted(vars(net.first[0])) == sorted(vars(copy.copy(net.first[0])))
        gone = nn.Linear(2, 2)
        gone(torch.ones(1, 2))
        alive = weakref.ref(gone)
        del gone
        assert alive() is None, "a module is kept alive"
    if not compile_too and hasattr(torch, "fx"):
        graph = torch.fx.symbolic_trace(net.first)
        print([node.op for node in graph.graph.nodes], digest(graph(x)))
    print(digest(*losses), net.calls, nn.Module.__call__.__qualname__, nn.Module.__call__.__module__)
    if compile_too:
        from torch._dynamo.utils import counters

        print(dict(counters["stats"]), sum(counters["recompiles"].values()), dict(counters["graph_break"]))


main()
