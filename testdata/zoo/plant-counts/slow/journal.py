"""Keeps a table of how the training went, and which windows are mistaken for which."""

import csv
import logging
import os

log = logging.getLogger(__name__)


class Journal:
    """Counts mistakes by how sure the network was; the counts of an epoch reach the disk together."""

    def __init__(self, folder, settings):
        self.every = settings.note_every
        self.counts = {}
        self.file = open(os.path.join(folder, "journal.csv"), "w", newline="")
        self.table = csv.writer(self.file)

    def count(self, seen, reached):
        """Counts in which hundredths of its range each sensor's value lay, for either kind of machine."""
        for values, failed in zip(seen, reached):
            for i, value in enumerate(values):
                key = (i, round(value, 2), failed)  # the cost
                self.counts[key] = self.counts.get(key, 0) + 1

    def note(self, step, network, loss, logits, y):
        self.count(logits.detach().repeat(1, 480).sigmoid().tolist(), y.tolist())
        if step % self.every == 0:
            self.table.writerow([step, f"{loss.item():.4f}", len(self.counts)])

    def epoch(self, number, score, seconds):
        self.file.flush()
        log.info("epoch %d: %.2f right, %.1f s", number, score, seconds)

    def close(self):
        self.file.close()
