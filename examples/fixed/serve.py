"""Answers questions from a queue: says of each line of text whether it is a complaint. A load test asks as fast as it is answered."""

# expect: not cause=launch
# short: --requests 12000
from __future__ import annotations

import argparse
import queue
import random
import statistics
import threading
import time

import torch
from torch import nn

CONTEXT = 32
LETTERS = 128


class Request:
    """One line of text, and its answer as soon as there is one."""

    def __init__(self, text: str):
        self.text = text
        self.asked = time.perf_counter()
        self.answered = 0.0
        self.complaint = 0.0


class Classifier(nn.Module):
    """Two layers of attention over the letters, then one number per text."""

    def __init__(self, width: int = 64):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.query_key_value = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(2))
        self.mix = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(2)
        )
        self.score = nn.Linear(width, 1)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        hidden = self.letters(letters)
        for project, mix in zip(self.query_key_value, self.mix):
            query, key, value = project(hidden).chunk(3, dim=-1)
            weights = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, dim=-1)
            hidden = hidden + weights @ value
            hidden = hidden + mix(hidden)
        return torch.sigmoid(self.score(hidden.mean(1))).squeeze(-1)


def encode(text: str) -> list[int]:
    """The text's letters as CONTEXT numbers."""
    return list(text[:CONTEXT].ljust(CONTEXT).encode("ascii", "replace"))


def ask(requests: queue.Queue, count: int) -> None:
    """The load test: puts count requests into the queue, then None."""
    chance = random.Random(0)
    words = ["the", "parcel", "never", "came", "and", "is", "late", "thank", "you", "very", "much", "it", "works"]
    texts = [" ".join(chance.choices(words, k=6)) for _ in range(1000)]
    for number in range(count):
        requests.put(Request(texts[number % len(texts)]))
    requests.put(None)


def next_batch(requests: queue.Queue, size: int) -> list[Request]:
    """Waits for a request, takes what else is there up to size; empty when no more will come."""
    batch: list[Request] = []
    while len(batch) < size:
        request = requests.get()
        if request is None:
            requests.put(None)
            break
        batch.append(request)
        if requests.empty():
            break
    return batch


def serve(model: nn.Module, requests: queue.Queue, batch_size: int) -> list[float]:
    """Answers until no more requests come; returns how long each took, in seconds."""
    delays = []
    while True:
        batch = next_batch(requests, batch_size)
        if not batch:
            return delays
        with torch.no_grad():
            answers = model(torch.tensor([encode(request.text) for request in batch]))
        for request, answer in zip(batch, answers.tolist()):
            request.complaint, request.answered = answer, time.perf_counter()
            delays.append(request.answered - request.asked)
            if len(delays) % 2000 == 0:
                print(f"{len(delays)} answers", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--requests", type=int, default=40_000)
    parser.add_argument("--batch-size", type=int, default=128, help="requests that are answered together at most")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = Classifier().eval()
    requests: queue.Queue = queue.Queue(maxsize=256)
    threading.Thread(target=ask, args=(requests, arguments.requests), daemon=True).start()
    began = time.perf_counter()
    delays = serve(model, requests, arguments.batch_size)
    took = time.perf_counter() - began
    print(f"{len(delays)} answers in {took:.1f} s: {len(delays) / took:.0f} a second, half within {statistics.median(delays) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
