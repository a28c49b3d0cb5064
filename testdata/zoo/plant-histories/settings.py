"""Settings of a run; command line options change them."""

from dataclasses import dataclass

EPOCHS = 3
WINDOWS = 1400


@dataclass
class Settings:
    epochs: int = EPOCHS
    windows: int = WINDOWS
    sensors: int = 16
    length: int = 32
    width: int = 48
    depth: int = 3
    batch: int = 32
    rate: float = 0.02
    note_every: int = 20
    check_every: int = 60
    threads: int = 0  # 0: as PyTorch chooses
