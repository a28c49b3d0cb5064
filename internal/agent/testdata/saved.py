"""Saves parts of tensors and whole ones, in a few ways."""

import io
import os
import pickle
import tempfile
import warnings
from collections import OrderedDict

import torch

warnings.simplefilter("ignore")
TABLE = torch.arange(1 << 20, dtype=torch.float32).view(1024, 1024)  # 4 MiB
NETWORK = torch.nn.LSTM(256, 256)


class Own(dict):
    def values(self):
        raise RuntimeError("nobody asks me")


class Mode(getattr(torch.overrides, "TorchFunctionMode", object)):
    def __torch_function__(self, function, types, arguments=(), keywords=None):
        asked.append(function.__name__)
        return function(*arguments, **(keywords or {}))


asked = []
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "it.pt")

    def size():
        return os.path.getsize(path) // 100_000

    torch.save({"part": TABLE[:64], "name": "first"}, path)  # 256 KiB
    print(size(), torch.load(path)["part"].sum().item())
    torch.save(TABLE[:, :16], path)  # 64 KiB
    print(size())
    torch.save([(OrderedDict(part=torch.nn.Parameter(TABLE[:64])),)], path)  # deeper
    print(size())
    torch.save({"part": TABLE[:64].clone()}, path)
    torch.save({"whole": TABLE}, path)
    torch.save({"turned": TABLE.t(), "again": TABLE.view(-1)}, path)
    torch.save({"wide": TABLE[:1].expand(1024, 1024)}, path)
    torch.save([TABLE[i : i + 64] for i in range(0, 1024, 64)], path)  # all of it
    torch.save({"most": TABLE[:600]}, path)
    torch.save({"small": torch.zeros(1000)[:10]}, path)
    torch.save(NETWORK.state_dict(), path)
    torch.save(NETWORK, path)
    torch.save(Own(part=1), path)
    torch.save([TABLE[i % 1024 : i % 1024 + 1] for i in range(1200)], path)  # too many to look at
    torch.save({"empty": torch.zeros(0), "sparse": torch.eye(3).to_sparse(), "none": None}, path)
    stream = io.BytesIO()
    torch.save(TABLE[:64], stream)  # memory
    print(len(stream.getvalue()) // 100_000)
    torch.save(TABLE[:64], path, _use_new_zipfile_serialization=False)  # the old format
    print(size())
    torch.save(f=path, obj=TABLE[:64])  # by name
    if Mode.__mro__[1] is not object:
        with Mode():
            torch.save(None, path)
            asked.clear()
            torch.save(TABLE[:64], path)  # mode
            print(sorted(set(asked)))
print(torch.save.__name__, torch.save.__module__, pickle.loads(pickle.dumps(torch.save)) is torch.save)
