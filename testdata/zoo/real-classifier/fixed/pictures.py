"""Pictures, made up here, with noise and a random cut as augmentation."""

import random

import torch
from settings import SIDE
from torch.utils.data import Dataset


def soften(picture):
    """Mean of each value and its right neighbour."""
    return torch.cat([(picture[..., :-1] + picture[..., 1:]) / 2, picture[..., -1:]], dim=-1)


def cut(picture, margin=4):
    x, y = random.randrange(margin), random.randrange(margin)
    return picture[:, y : y + SIDE - margin, x : x + SIDE - margin]


class Pictures(Dataset):
    def __init__(self, count, classes):
        self.labels = torch.randint(classes, (count,))
        self.base = torch.rand(classes, 3, SIDE, SIDE)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        label = int(self.labels[i])
        noisy = self.base[label] + 0.1 * torch.rand(3, SIDE, SIDE)
        return cut(soften(noisy)), label
