"""Two towers: one for users and what they have rated, one for items."""

import torch
from settings import ITEMS, SPARSE, USERS, WIDTH
from torch import nn


class Tower(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, WIDTH))

    def forward(self, x):
        return nn.functional.normalize(self.layers(x), dim=-1)


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.people = nn.Embedding(USERS, WIDTH, sparse=SPARSE)
        self.things = nn.Embedding(ITEMS, WIDTH, sparse=SPARSE)
        self.asking, self.offered = Tower(2 * WIDTH), Tower(WIDTH)
        self.sharpness = nn.Parameter(torch.tensor(4.0))

    def forward(self, users, history, items):
        seen = self.things(history).mean(1)
        left = self.asking(torch.cat([self.people(users), seen], -1))
        right = self.offered(self.things(items))
        return self.sharpness * (left * right).sum(-1)
