"""Trains the tagger, scores every batch, validates after each epoch and writes a log."""

import json
import logging
import os
import tempfile

import torch
from corpus import load
from scores import Scores
from settings import EPOCHS, SCORE_EVERY, SENTENCES
from tagger import Tagger
from torch import nn
from torch.utils.data import DataLoader, random_split

log = logging.getLogger("tagger")


def rate(step, warm=20):
    return min((step + 1) / warm, (warm / (step + 1)) ** 0.5)


def validate(model, loader):
    model.eval()
    scores = Scores()
    with torch.no_grad():
        for words, tags in loader:
            scores.add(model(words).argmax(-1), tags)
    model.train()
    return scores


def epoch_of(model, loader, optimizer, schedule):
    scores, losses = Scores(), []
    for i, (words, tags) in enumerate(loader):
        optimizer.zero_grad()
        out = model(words)
        loss = nn.functional.cross_entropy(out.flatten(0, 1), tags.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
        if i % SCORE_EVERY == 0:
            scores.add(out.argmax(-1), tags)
    return torch.stack(losses).mean().item(), scores


def main():
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(5)
    data = load(seed=11)
    learning, checking = random_split(data, [SENTENCES - 128, 128])
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    with tempfile.TemporaryDirectory() as folder:
        history = os.path.join(folder, "history.jsonl")
        for epoch in range(EPOCHS):
            loss, score = epoch_of(model, DataLoader(learning, batch_size=32, shuffle=True), optimizer, schedule)
            check = validate(model, DataLoader(checking, batch_size=128))
            with open(history, "a") as out:
                out.write(json.dumps({"epoch": epoch, "loss": loss, "score": score.mean(), "check": check.mean()}) + "\n")
            log.info("epoch %d: loss %.3f, scores %s, checks %s", epoch, loss, score, check)


if __name__ == "__main__":
    main()
