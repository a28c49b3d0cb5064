"""Trains a small transformer to write the next letter of generated text, and counts how often it is among the first five guesses."""

# expect: not cause=python
# short: --steps 120
from __future__ import annotations

import argparse
import random
import string
import time

import torch
from torch import nn

LETTERS = 128


def write_text(length: int, seed: int) -> torch.Tensor:
    """Letters as ASCII codes: words of a small made-up language, in which some follow others more often."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in range(400)]
    followers = {word: chance.choices(words, k=6) for word in words}
    word, text = words[0], []
    size = 0
    while size < length:
        text.append(word + chance.choice("    .,;!"))
        size += len(text[-1])
        word = chance.choice(followers[word])
    return torch.tensor(list("".join(text)[:length].encode("ascii")))


class Transformer(nn.Module):
    """Decoder-only: embeddings, two layers of causal attention, the letters' scores."""

    def __init__(self, width: int, context: int):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.positions = nn.Parameter(torch.randn(context, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.scores = nn.Linear(width, LETTERS)
        self.register_buffer("mask", torch.full((context, context), float("-inf")).triu(1))

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        length = letters.shape[1]
        hidden = self.letters(letters) + self.positions[:length]
        return self.scores(self.layers(hidden, mask=self.mask[:length, :length]))


def batches(text: torch.Tensor, count: int, size: int, context: int):
    """Yields (letters, next letters), both (size, context), cut from random places."""
    for _ in range(count):
        starts = torch.randint(len(text) - context - 1, (size,))
        pieces = torch.stack([text[start : start + context + 1] for start in starts])
        yield pieces[:, :-1], pieces[:, 1:]


def among_first_five(scores: torch.Tensor, targets: torch.Tensor) -> float:
    """The share of letters that are among the five with the highest scores."""
    return (scores.detach().topk(5).indices == targets.unsqueeze(-1)).any(-1).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--steps", type=int, default=400, help="batches to train on")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--context", type=int, default=64, help="letters that the model sees")
    parser.add_argument("--width", type=int, default=64)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    text = write_text(200_000, seed=0)
    model = Transformer(arguments.width, arguments.context).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    began = time.perf_counter()
    hits = 0.0
    for step, (letters, targets) in enumerate(batches(text, arguments.steps, arguments.batch_size, arguments.context)):
        letters, targets = letters.to(device), targets.to(device)
        scores = model(letters)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits = 0.95 * hits + 0.05 * among_first_five(scores, targets)
        if step % 50 == 49:
            print(f"step {step + 1}: loss {loss.item():.3f}, among five {hits:.1%}, {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
