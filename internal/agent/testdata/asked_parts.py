"""Draws a picture step by step, and at each step asks what is made of the words, which stay."""

import torch
from torch import nn

torch.manual_seed(0)


class Words(nn.Module):
    """A number of each text."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, words):
        """The mean of its words' vectors."""
        return self.table(words).mean(1)


class Painter(nn.Module):
    """Makes a picture less noisy, as words say."""

    def __init__(self):
        super().__init__()
        self.words = Words()
        self.about = Words()
        self.hands = nn.Linear(4, 4)
        self.register_buffer("style", torch.randint(10, (1, 5)))

    def forward(self, picture, words, step=0):
        """A picture."""
        told = self.words(words)
        style = self.about(words=self.style)
        return self.hands(picture) + told + style + step


MODEL = Painter().eval()


@torch.inference_mode()
def draw(words, steps):
    """A picture of some words."""
    picture = torch.randn(3, 4)
    words = words + 0
    for step in range(steps):
        picture = MODEL(picture, words, step=step)
        if step % 4 == 3:
            words[0, 0] += 1  # has no version
    return picture.sum().item()


print(draw(torch.randint(9, (3, 8)), 8), draw(torch.randint(9, (3, 4000)), 4))
