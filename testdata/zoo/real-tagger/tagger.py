"""A small transformer that gives each word a tag."""

from settings import LENGTH, TAGS, WORDS
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, batch_first=True, dropout=0.0)
        self.layers = nn.TransformerEncoder(layer, 1)
        self.out = nn.Linear(width, TAGS)

    def forward(self, words):
        x = self.words(words) + self.places.weight[: words.shape[1]]
        return self.out(self.layers(x))
