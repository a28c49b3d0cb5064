"""Writes files in many ways, after every step at one place (the lines of write) and once elsewhere; says what is there in the end."""

import csv
import io
import json
import logging
import os
import pickle
import sys
import tempfile

import numpy
import torch
from torch import nn

SLOW = "--none" not in sys.argv
log = logging.getLogger("steps")
both = logging.getLogger("both")


def elsewhere(path):
    print("end", file=table)
    log.info("ended")
    torch.save(1, path("end"))
    with open(path("written"), "wb") as f:
        f.write(b"elsewhere")


def write(i, path, model):
    if SLOW:
        torch.save(model.state_dict(), path("state"))
        os.replace(path("state"), path("last"))
        log.info("step %d", i)
        both.warning("shown %d", i)
        json.dump({"step": i}, table)
        pickle.dump(i, book), numpy.save(path("numbers-%d.npy" % i), numpy.zeros(3)), print("row", i, file=table, flush=True)  # the place
        rows.writerow([i]), os.fsync(table.fileno()), torch.save(i, memory)
        print("on standard output", i), open(path("new-%d" % i), "w").write("text")
    return i


with tempfile.TemporaryDirectory() as folder:

    def path(name):
        return os.path.join(folder, name)

    logging.basicConfig(filename=path("log"), level=logging.INFO, format="%(message)s")
    both.addHandler(logging.StreamHandler(sys.stdout))
    table, book, memory = open(path("table"), "w"), open(path("book"), "wb"), io.BytesIO()
    rows = csv.writer(table)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for i in range(8):
        optimizer.zero_grad()
        model(torch.rand(2, 4)).sum().backward()
        optimizer.step()
        write(i, path, model)
    elsewhere(path)
    table.close(), book.close(), logging.shutdown()
    for name in ("table", "book", "log", "written"):
        with open(path(name), "rb") as f:
            print(name, len(f.read()))
    print(sorted(name for name in os.listdir(folder) if "-" not in name), len(os.listdir(folder)), len(memory.getvalue()) > 100)
