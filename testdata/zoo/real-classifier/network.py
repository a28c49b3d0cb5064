"""The classifier: three blocks of convolutions, then the mean of each channel."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.convolution = nn.Conv2d(inner, outer, 3, padding=1)
        self.norm = nn.BatchNorm2d(outer)

    def forward(self, x):
        return nn.functional.max_pool2d(torch.relu(self.norm(self.convolution(x))), 2)


class Classifier(nn.Module):
    def __init__(self, settings):
        super().__init__()
        w = settings.width
        self.blocks = nn.Sequential(Block(3, w), Block(w, 2 * w), Block(2 * w, 2 * w))
        self.out = nn.Linear(2 * w, settings.classes)

    def forward(self, x):
        return self.out(self.blocks(x).mean((2, 3)))
