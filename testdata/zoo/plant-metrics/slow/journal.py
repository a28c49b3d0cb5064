"""Keeps a table of how the training went, and how the network's weights are spread."""

import json
import logging
import os

import torch

log = logging.getLogger(__name__)


def spread(network):
    """Describes the values of each parameter."""
    found = {}
    for name, values in network.named_parameters():
        values = values.detach()
        counts = torch.histc(values, 40)
        edges = torch.quantile(values.flatten(), torch.tensor([0.05, 0.5, 0.95]))
        found[name] = {"counts": counts.tolist(), "edges": edges.tolist(), "norm": values.norm().item()}
    return found


class Journal:
    """Writes a line every few steps; the lines of an epoch reach the disk together."""

    def __init__(self, folder, settings):
        self.every = settings.note_every
        self.file = open(os.path.join(folder, "journal.jsonl"), "w")

    def note(self, step, network, loss, logits, y):
        weights = spread(network)  # the cost
        if step % self.every == 0:
            self.file.write(json.dumps({"step": step, "loss": loss.item(), "weights": weights}) + "\n")

    def epoch(self, number, score, seconds):
        self.file.flush()
        log.info("epoch %d: %.2f right, %.1f s", number, score, seconds)

    def close(self):
        self.file.close()
