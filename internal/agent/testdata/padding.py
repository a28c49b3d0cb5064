"""Iterates DataLoaders of sequences that are filled up in several ways, and of tables that only look like them."""

import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
lengths = torch.arange(64) % 7 + 3  # 3 to 9 of 16 places
tokens = torch.randint(5, 50, (64, 16))
places = torch.arange(16)
right = tokens.masked_fill(places >= lengths.unsqueeze(1), 0)
left = right.flip(1)
mask = (places < lengths.unsqueeze(1)).long()
sound = torch.rand(64, 16) + 1
sound[places >= lengths.unsqueeze(1)] = 0
features = (torch.rand(64, 16, 3) + 1).masked_fill((places >= lengths.unsqueeze(1)).unsqueeze(2), -4.0)


class Encoded(dict):
    """A dictionary of the program's own, into which nobody looks."""

    def __getitem__(self, key):
        raise RuntimeError("somebody looked")


class BatchEncoding(Encoded):
    """The same under a name of Hugging Face's."""


kinds = {
    "right": lambda rows: (right[rows], lengths[rows]),
    "left": lambda rows: [left[rows], lengths[rows]],
    "mask": lambda rows: {"labels": tokens[rows], "input_ids": right[rows], "attention_mask": mask[rows]},
    "columns": lambda rows: (torch.randint(0, 3, (8, 16)), lengths[rows]),
    "one hot": lambda rows: torch.nn.functional.one_hot(torch.arange(8), 16),
    "full": lambda rows: (tokens[rows], lengths[rows]),
    "pictures": lambda rows: torch.rand(8, 3, 16, 16),
    "namesake": lambda rows: BatchEncoding(input_ids=right[rows]),
    "own": lambda rows: Encoded(input_ids=right[rows]),
    "nothing": lambda rows: None,
    "sound": lambda rows: (sound[rows], lengths[rows], tokens[rows], lengths[rows]),
    "features": lambda rows: {"length": lengths[rows], "x": features[rows]},
    "channels": lambda rows: [features[rows].transpose(1, 2), lengths[rows]],
    "labels": lambda rows: (torch.rand(8, 16) + 1, lengths[rows]),
    "blank": lambda rows: (torch.zeros(8, 16), lengths[rows]),
    "whole": lambda rows: (sound[rows], torch.full((8,), 16)),
}
for kind, batch in kinds.items():
    loader = DataLoader(range(64), batch_size=8, collate_fn=lambda rows, batch=batch: batch(torch.tensor(rows)))
    print(kind, sum(1 for _ in loader))
