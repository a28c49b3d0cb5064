"""Learns which machines of a plant will fail, from windows of their sensors' readings."""

import argparse
import logging
import os
import tempfile
import time

import torch
import torch.distributed as dist
from evaluate import evaluate
from journal import Journal
from network import build
from readings import Readings
from settings import Settings
from store import Store
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    settings = Settings()
    for name, value in vars(settings).items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    parser.add_argument("--seed", type=int, default=3)
    given = parser.parse_args()
    for name in vars(settings):
        setattr(settings, name, getattr(given, name))
    return settings, given.seed


class Training:
    """One run of the training, on its own or as one of several processes."""

    def __init__(self, settings, seed, folder):
        self.settings = settings
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        torch.manual_seed(seed)
        self.chance = torch.Generator().manual_seed(seed)
        self.learning = Readings(settings, settings.windows, seed)
        self.checking = Readings(settings, settings.windows // 10, seed + 1)
        self.network = build(settings)
        self.called = self.network
        if self.world > 1:
            dist.init_process_group("gloo")
            self.learning.part(self.rank, self.world)
            self.called = DistributedDataParallel(self.network)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=settings.rate, momentum=0.9)
        self.journal = Journal(folder, settings)
        self.store = Store(folder)
        self.steps = 0

    def epoch(self, number):
        began = time.perf_counter()
        for x, y in self.learning.batches(self.settings.batch, self.chance):
            self.step(x, y)
        score = evaluate(self.network, self.checking, self.settings.batch)
        self.journal.epoch(number, score, time.perf_counter() - began)
        self.store.after_epoch(number, self.network, self.optimizer)

    def step(self, x, y):
        self.optimizer.zero_grad()
        logits = self.called(x)  # the cost where lengths vary
        loss = nn.functional.cross_entropy(logits, y)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        self.journal.note(self.steps, self.network, loss, logits, y)
        self.store.after_step(self.steps, self.network, self.optimizer)
        if self.rank == 0 and self.steps % self.settings.check_every == 0:
            evaluate(self.network, self.checking, self.settings.batch)


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    settings, seed = options()
    if settings.threads:
        torch.set_num_threads(settings.threads)  # the cost where the threads are too many
    with tempfile.TemporaryDirectory() as folder:
        training = Training(settings, seed, folder)
        for number in range(settings.epochs):
            training.epoch(number)
        training.journal.close()
    if training.world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
