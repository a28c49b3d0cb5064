"""Keeps a table of how the training went, with the events that were known of each window."""

import csv
import logging
import os

log = logging.getLogger(__name__)

EVENTS = 20000


class Event:
    """Something that happened to a machine, with the events that it followed."""

    def __init__(self, number):
        self.number = number
        self.after = []


class Journal:
    """Writes a row every few steps; the rows of an epoch reach the disk together."""

    def __init__(self, folder, settings):
        self.every = settings.note_every
        self.events = [Event(i) for i in range(EVENTS)]
        for i, event in enumerate(self.events):
            event.after.append(self.events[i * 13 % EVENTS])
        self.file = open(os.path.join(folder, "journal.csv"), "w", newline="")
        self.table = csv.writer(self.file)

    def note(self, step, network, loss, logits, y):
        if step % self.every == 0:
            self.table.writerow([step, f"{loss.item():.4f}", self.events[step % EVENTS].number])

    def epoch(self, number, score, seconds):
        self.file.flush()
        log.info("epoch %d: %.2f right, %.1f s", number, score, seconds)

    def close(self):
        self.file.close()
