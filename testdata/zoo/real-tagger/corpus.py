"""Sentences with a tag for each word; made up, but with a rule to learn."""

import torch
from settings import LENGTH, SENTENCES, TAGS, WORDS
from torch.utils.data import TensorDataset


def load(seed):
    source = torch.Generator().manual_seed(seed)
    words = torch.randint(WORDS, (SENTENCES, LENGTH), generator=source)
    tags = (words * 7 + words.roll(1, dims=1)) % TAGS
    return TensorDataset(words, tags)
