"""Writes files between its steps, and into memory."""

import io
import json
import logging
import os
import pickle
import tempfile

import numpy
import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
numbers = list(range(30_000))
with tempfile.TemporaryDirectory() as folder:
    log = logging.getLogger("mine")
    log.addHandler(logging.FileHandler(os.path.join(folder, "log.txt")))
    for _ in range(3):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        with open(os.path.join(folder, "metrics.json"), "w") as file:
            json.dump(numbers, file)
        with open(os.path.join(folder, "state.pkl"), "wb") as file:
            pickle.dump(numbers, file)
        numpy.save(os.path.join(folder, "array.npy"), numpy.zeros(1_000_000))
        log.warning("x" * 3_000_000)
        json.dump(numbers, io.StringIO())
        pickle.dumps(json.dump), pickle.dumps(pickle.dump), pickle.dumps(numpy.save)
    print(sorted((name, os.path.getsize(os.path.join(folder, name))) for name in os.listdir(folder)))
