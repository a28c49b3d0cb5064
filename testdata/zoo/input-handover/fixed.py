"""Learns from graphs whose edges travel as one tensor from worker to trainer."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

GRAPHS = 1648
EDGES = 60


class Graphs(Dataset):
    def __init__(self):
        self.edges = torch.rand(GRAPHS, EDGES, 4)

    def __len__(self):
        return GRAPHS

    def __getitem__(self, i):
        return self.edges[i], i % 2


def gather(items):
    edges = torch.stack([graph for graph, _ in items])
    return edges, torch.tensor([label for _, label in items])


def main():
    model = nn.Sequential(nn.Linear(EDGES * 4, 2048), nn.ReLU(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Graphs(), batch_size=16, num_workers=1, collate_fn=gather)  # the cost
    for edges, y in loader:
        x = edges.view(len(y), -1)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    torch.multiprocessing.set_sharing_strategy("file_system")
    main()
