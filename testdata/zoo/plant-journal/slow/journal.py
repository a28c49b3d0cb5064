"""Keeps every judgement in a table that survives a crash."""

import csv
import logging
import os

log = logging.getLogger(__name__)


class Journal:
    """Writes a row for each step."""

    def __init__(self, folder, settings):
        self.every = settings.note_every
        self.file = open(os.path.join(folder, "journal.csv"), "w", newline="")
        self.table = csv.writer(self.file)

    def note(self, step, network, loss, logits, y):
        for judged, failed in zip(logits.argmax(1).tolist(), y.tolist()):
            self.table.writerow([step, judged, failed])
            self.file.flush()
            os.fsync(self.file.fileno())  # the cost

    def epoch(self, number, score, seconds):
        self.file.flush()
        log.info("epoch %d: %.2f right, %.1f s", number, score, seconds)

    def close(self):
        self.file.close()
