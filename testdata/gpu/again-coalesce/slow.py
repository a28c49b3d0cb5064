"""Learns what people like from what they bought: each one's taste is spread over the graph of purchases."""

import torch
from torch import nn

PEOPLE, THINGS, PURCHASES, WIDTH, LAYERS = 12000, 6000, 300000, 64, 3
STEPS = 400
device = "cuda" if torch.cuda.is_available() else "cpu"


def purchases():
    """The graph of purchases, as a matrix whose rows and columns are people and things."""
    people, things = torch.randint(PEOPLE, (PURCHASES,)), torch.randint(THINGS, (PURCHASES,))
    ends = torch.stack([torch.cat([people, things + PEOPLE]), torch.cat([things + PEOPLE, people])])
    counts = torch.bincount(ends[0], minlength=PEOPLE + THINGS).clamp(min=1).float()
    weights = 1 / torch.sqrt(counts[ends[0]] * counts[ends[1]])
    graph = torch.sparse_coo_tensor(ends, weights, (PEOPLE + THINGS, PEOPLE + THINGS))
    return people, things, graph


class Tastes(nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.start = nn.Parameter(0.1 * torch.randn(PEOPLE + THINGS, WIDTH))

    def forward(self):
        x, total = self.start, self.start
        for _ in range(LAYERS):
            x = torch.sparse.mm(self.graph, x)  # the cost
            total = total + x
        return total / (LAYERS + 1)


def main():
    torch.manual_seed(0)
    people, things, graph = purchases()
    people, things, graph = people.to(device), things.to(device), graph.to(device)
    model = Tastes(graph).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    for _ in range(STEPS):
        chosen = torch.randint(PURCHASES, (4096,), device=device)
        others = torch.randint(THINGS, (4096,), device=device)
        tastes = model()
        who = tastes[people[chosen]]
        liked = (who * tastes[PEOPLE + things[chosen]]).sum(1)
        other = (who * tastes[PEOPLE + others]).sum(1)
        loss = -nn.functional.logsigmoid(liked - other).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
