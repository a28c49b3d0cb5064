"""Trains the ranker, validates it after each epoch and keeps the best state."""

import io
import logging

import torch
from ranker import Ranker
from ratings import batches, load
from settings import BATCH, EPOCHS, RATINGS
from torch import nn
from torch.utils.data import random_split

log = logging.getLogger("ranker")


@torch.no_grad()
def validate(model, data):
    model.eval()
    right = seen = 0
    for users, history, items, likes in batches(data, 2048, shuffle=False):
        right += ((model(users, history, items) > 0) == likes.bool()).sum()
        seen += len(likes)
    model.train()
    return (right / seen).item()


def epoch_of(model, data, optimizer):
    losses = []
    for users, history, items, likes in batches(data, BATCH, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(model(users, history, items), likes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # the cost
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()


def main():
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(3)
    data = load(seed=8)
    learning, checking = random_split(data, [RATINGS - 4096, 4096])
    learning, checking = (part.dataset[part.indices] for part in (learning, checking))
    learning, checking = (torch.utils.data.TensorDataset(*part) for part in (learning, checking))
    model = Ranker()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    best, kept = 0.0, None
    for epoch in range(EPOCHS):
        loss = epoch_of(model, learning, optimizer)
        score = validate(model, checking)
        if score > best:
            best, kept = score, io.BytesIO()
            torch.save(model.state_dict(), kept)
        log.info("epoch %d: loss %.3f, %.1f %% right", epoch, loss, 100 * score)
    log.info("the best state has %d MB", kept.tell() >> 20)


if __name__ == "__main__":
    main()
