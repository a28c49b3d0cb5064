"""Full-graph GraphSAGE encoder trained for link prediction on a synthetic
user/item style graph."""
import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_graph(num_nodes, num_edges, seed=0):
    """Random graph with a skewed degree distribution, no duplicates."""
    rng = np.random.default_rng(seed)
    src = (num_nodes * rng.random(num_edges) ** 1.5).astype(np.int64)
    dst = rng.integers(0, num_nodes, num_edges)
    ids = np.unique(src * num_nodes + dst)
    return torch.from_numpy(np.stack([ids // num_nodes, ids % num_nodes]))


class NegativeSampler:
    """Draws node pairs that are not edges of the graph."""

    def __init__(self, edge_index, num_nodes):
        self.num_nodes = num_nodes
        self.device = edge_index.device
        ids = edge_index[0] * num_nodes + edge_index[1]
        self.edge_ids = ids.sort().values

    def _draw(self, n):
        return torch.randint(self.num_nodes ** 2, (n,), device=self.device)

    def _is_edge(self, ids):
        pos = torch.searchsorted(self.edge_ids, ids).clamp(max=self.edge_ids.numel() - 1)
        return self.edge_ids[pos] == ids

    def sample(self, n):
        ids = self._draw(n)
        # the graph is sparse, one redraw of the collisions is enough
        ids = torch.where(self._is_edge(ids), self._draw(n), ids)
        return ids // self.num_nodes, ids % self.num_nodes


class SAGELayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin_self = nn.Linear(d_in, d_out)
        self.lin_nbr = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x, src, dst, inv_deg):
        agg = torch.zeros_like(x)
        agg = agg.index_add(0, dst, x.index_select(0, src))
        return self.lin_self(x) + self.lin_nbr(agg * inv_deg)


class LinkPredictor(nn.Module):
    def __init__(self, num_nodes, dim, layers):
        super().__init__()
        self.embed = nn.Parameter(torch.randn(num_nodes, dim) * 0.1)
        self.layers = nn.ModuleList([SAGELayer(dim, dim) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(dim) for _ in range(layers)])

    def forward(self, src, dst, inv_deg):
        x = self.embed
        for layer, norm in zip(self.layers, self.norms):
            x = x + F.relu(norm(layer(x, src, dst, inv_deg)))
        return x

    @staticmethod
    def score(x, u, v):
        return (x.index_select(0, u) * x.index_select(0, v)).sum(-1) * x.shape[1] ** -0.5


class Trainer:
    def __init__(self, edge_index, num_nodes, dim, layers, batch, lr, device):
        self.edge_index = edge_index.to(device)
        # messages flow along both directions
        self.src = torch.cat([self.edge_index[0], self.edge_index[1]])
        self.dst = torch.cat([self.edge_index[1], self.edge_index[0]])
        deg = torch.bincount(self.dst, minlength=num_nodes).clamp(min=1)
        self.inv_deg = deg.float().reciprocal().unsqueeze(1)
        self.sampler = NegativeSampler(self.edge_index, num_nodes)
        self.model = LinkPredictor(num_nodes, dim, layers).to(device)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=lr, fused=True)
        self.batch = batch
        self.device = device

    def step(self):
        pick = torch.randint(self.edge_index.shape[1], (self.batch,), device=self.device)
        pos_u, pos_v = self.edge_index.index_select(1, pick)
        neg_u, neg_v = self.sampler.sample(self.batch)

        x = self.model(self.src, self.dst, self.inv_deg)
        pos = self.model.score(x, pos_u, pos_v)
        neg = self.model.score(x, neg_u, neg_v)
        loss = F.softplus(-pos).mean() + F.softplus(neg).mean()

        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.detach()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--nodes", type=int, default=150_000)
    ap.add_argument("--edges", type=int, default=1_500_000)
    ap.add_argument("--dim", type=int, default=256)
    ap.add_argument("--layers", type=int, default=3)
    ap.add_argument("--batch", type=int, default=524_288, help="positive edges per step")
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--small", action="store_true")
    args = ap.parse_args()
    if args.small:
        args.nodes, args.edges, args.dim, args.batch = 1000, 8000, 16, 512
    device = torch.device(args.device)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")

    edges = make_graph(args.nodes, args.edges)
    trainer = Trainer(edges, args.nodes, args.dim, args.layers, args.batch, args.lr, device)
    for _ in range(3):
        trainer.step()

    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for i in range(args.steps):
        loss = trainer.step()
        if (i + 1) % 20 == 0:
            print(f"step {i + 1} loss {loss.item():.4f}")
    if device.type == "cuda":
        torch.cuda.synchronize()
    total = time.perf_counter() - start
    print(f"final loss {loss.item():.4f}")
    print(f"total {total:.2f} s for {args.steps} steps")


if __name__ == "__main__":
    main()
