"""Ratings of items by users; made up, but with tastes to learn."""

import torch
from settings import HISTORY, ITEMS, RATINGS, USERS
from torch.utils.data import TensorDataset

KINDS = 16


def load(seed):
    source = torch.Generator().manual_seed(seed)
    users = torch.randint(USERS, (RATINGS,), generator=source)
    # Few items get most ratings.
    items = (ITEMS * torch.rand(RATINGS, generator=source) ** 2).long()
    history = torch.randint(ITEMS, (RATINGS, HISTORY), generator=source)
    likes = (users % KINDS - items % KINDS).abs() < KINDS // 3
    return TensorDataset(users, history, items, likes.float())


def batches(data, size, shuffle):
    order = torch.randperm(len(data)) if shuffle else torch.arange(len(data))
    for part in order.split(size):
        yield data[part]
