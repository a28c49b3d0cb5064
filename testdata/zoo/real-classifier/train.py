"""Trains and validates the classifier, logs each epoch and keeps its best state."""

import argparse
import logging
import os
import tempfile
import time

import torch
from network import Classifier
from pictures import Pictures
from settings import EPOCHS, PICTURES, Settings
from torch import nn
from torch.utils.data import DataLoader, random_split

log = logging.getLogger(__name__)


def validate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    model.train()
    return right / max(total, 1)


def learn(model, loader, optimizer):
    total = torch.zeros(())
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item() / len(loader)


def keep(model, optimizer, folder, epoch):
    path = os.path.join(folder, f"epoch-{epoch}.pt")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)
    log.info("kept %s", path)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=3)
    seed = options.parse_args().seed
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    settings = Settings()
    torch.manual_seed(seed)
    data = Pictures(PICTURES, settings.classes)
    learning, checking = random_split(data, [PICTURES - PICTURES // 10, PICTURES // 10])
    loader = DataLoader(learning, batch_size=settings.batch, shuffle=True, drop_last=True)
    checks = DataLoader(checking, batch_size=settings.batch)
    model = Classifier(settings)
    optimizer = torch.optim.SGD(model.parameters(), lr=settings.rate, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(EPOCHS):
            began = time.perf_counter()
            loss = learn(model, loader, optimizer)
            log.info("epoch %d: loss %.3f, right %.2f, %.1f s", epoch, loss, validate(model, checks), time.perf_counter() - began)
            schedule.step()
            if epoch % settings.keep_every == 0:
                keep(model, optimizer, folder, epoch)


if __name__ == "__main__":
    main()
