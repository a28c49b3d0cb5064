"""Compares documents with each other by the vectors of their words, one pair at a time: a script without steps."""

import random

import torch

WORDS = 4000
DOCUMENTS = 700
EVERY = 5


def documents():
    chance = random.Random(1)
    return [[chance.randrange(WORDS) for _ in range(chance.randint(10, 30))] for _ in range(DOCUMENTS)]


def vector(table, words):
    return table[torch.tensor(words)].mean(0)


def likeness(a, b):
    return float((a * b).sum() / (a.norm() * b.norm() + 1e-9))  # the cost


def nearest(vectors, i):
    scores = [likeness(vectors[i], v) for v in vectors]
    scores[i] = -2.0
    return max(range(len(scores)), key=scores.__getitem__)


def main():
    table = torch.randn(WORDS, 64)
    vectors = [vector(table, words) for words in documents()]
    found = [nearest(vectors, i) for i in range(0, len(vectors), EVERY)]
    print(f"{len(set(found))} documents are nearest to {len(found)}")


if __name__ == "__main__":
    with torch.no_grad():
        main()
