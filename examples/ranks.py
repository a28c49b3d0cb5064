"""Trains a text classifier on two ranks: torchrun --nproc_per_node 2 examples/ranks.py

Each rank reads its share of the documents, cuts them into hashed word pairs and trains; gradients are averaged by gloo.
"""

# expect: cause=straggler rank=1
# run: torchrun --nproc_per_node 2
# short: --epochs 3 --documents 6000
from __future__ import annotations

import argparse
import random
import time
import zlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BUCKETS = 1024
TOPICS = 8


def write_documents(count: int, seed: int) -> list[tuple[str, int]]:
    """(text, topic) pairs from 60 to 2,400 words long; short ones first, as they come out of a store that is sorted by size."""
    chance = random.Random(seed)
    common = [f"w{number}" for number in range(500)]
    special = [[f"t{topic}x{number}" for number in range(40)] for topic in range(TOPICS)]
    documents = []
    for number in range(count):
        topic = chance.randrange(TOPICS)
        length = int(60 * 40 ** (number / count))
        documents.append((" ".join(chance.choices(common, k=length - length // 8) + chance.choices(special[topic], k=length // 8)), topic))
    return documents


def share(documents: list, rank: int, ranks: int) -> list:
    """This rank's documents."""
    size = len(documents) // ranks
    return documents[rank * size : (rank + 1) * size]


def word_pairs(text: str) -> torch.Tensor:
    """How often each bucket of hashed neighbouring words occurs in the text: (BUCKETS,) float32."""
    words = text.lower().split()
    counts = [0.0] * BUCKETS
    for first, second in zip(words, words[1:]):
        counts[zlib.crc32(f"{first} {second}".encode()) % BUCKETS] += 1.0  # expect: here
        counts[zlib.crc32(second.encode()) % BUCKETS] += 1.0  # expect: here
    return torch.tensor(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=8, help="passes over the documents")
    parser.add_argument("--documents", type=int, default=8_000)
    parser.add_argument("--batch-size", type=int, default=64, help="documents of one rank in a step")
    arguments = parser.parse_args()

    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    documents = share(write_documents(arguments.documents, seed=0), rank, ranks)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(BUCKETS, 64), nn.ReLU(), nn.Linear(64, TOPICS)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    order = torch.Generator().manual_seed(rank)
    for epoch in range(arguments.epochs):
        began = time.perf_counter()
        loss = torch.zeros(())
        for rows in torch.randperm(len(documents), generator=order).split(arguments.batch_size):
            batch = [documents[row] for row in rows.tolist()]
            features = torch.stack([word_pairs(text) for text, _ in batch])
            topics = torch.tensor([topic for _, topic in batch])
            loss = nn.functional.cross_entropy(model(features), topics)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}, {time.perf_counter() - began:.1f} s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
