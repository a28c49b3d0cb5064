"""Keeps a table of how the training went."""

import csv
import logging
import os

log = logging.getLogger(__name__)


class Journal:
    """Writes a row every few steps; the rows of an epoch reach the disk together."""

    def __init__(self, folder, settings):
        self.every = settings.note_every
        self.file = open(os.path.join(folder, "journal.csv"), "w", newline="")
        self.table = csv.writer(self.file)

    def note(self, step, network, loss, logits, y):
        if step % self.every == 0:
            self.table.writerow([step, f"{loss.item():.4f}"])

    def epoch(self, number, score, seconds):
        self.file.flush()
        log.info("epoch %d: %.2f right, %.1f s", number, score, seconds)

    def close(self):
        self.file.close()
