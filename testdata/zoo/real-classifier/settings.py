"""Settings of the classifier; a real project reads them from a file."""

from dataclasses import dataclass

PICTURES = 1000
SIDE = 48
EPOCHS = 3


@dataclass
class Settings:
    batch: int = 16
    width: int = 24
    rate: float = 0.02
    classes: int = 5
    keep_every: int = 2
