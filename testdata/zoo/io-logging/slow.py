"""Learns and logs every weight's size after every step."""

import logging
import os
import tempfile

import torch
from torch import nn

STEPS = 292
UNITS = 748
EVERY = 1

log = logging.getLogger("sizes")


def describe(step, layer):
    for unit, size in enumerate(layer.weight.detach().norm(dim=1).tolist()):
        log.info("step %d unit %d size %.4f", step, unit, size)  # the cost


def main():
    model = nn.Sequential(nn.Linear(256, UNITS), nn.ReLU(), nn.Linear(UNITS, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with tempfile.TemporaryDirectory() as folder:
        logging.basicConfig(filename=os.path.join(folder, "log"), level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
        for step in range(STEPS):
            x, y = torch.rand(256, 256), torch.randint(3, (256,))
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            if step % EVERY == 0:
                describe(step, model[0])
        logging.shutdown()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
