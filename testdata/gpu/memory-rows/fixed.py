"""Two-tower retrieval model: users by their click history, items by content features."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(*dims):
    layers = []
    for i, (a, b) in enumerate(zip(dims[:-1], dims[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(dims) - 2:
            layers.append(nn.GELU())
    return nn.Sequential(*layers)


class ItemTower(nn.Module):
    """Projects frozen content features (text + image encoder outputs) into the joint space."""

    def __init__(self, features, hidden, dim):
        super().__init__()
        self.register_buffer("features", features, persistent=False)
        self.net = mlp(features.shape[1], hidden, hidden, dim)

    def forward(self, feats):
        return F.normalize(self.net(feats).float(), dim=-1)


class UserTower(nn.Module):
    def __init__(self, num_items, num_segments, hidden, dim, emb=128):
        super().__init__()
        self.history = nn.EmbeddingBag(num_items, emb, mode="mean")
        self.segment = nn.Embedding(num_segments, emb)
        self.net = mlp(2 * emb, hidden, hidden, dim)

    def forward(self, history, segment):
        x = torch.cat([self.history(history), self.segment(segment)], dim=-1)
        return F.normalize(self.net(x).float(), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, features, num_segments, hidden, dim):
        super().__init__()
        self.items = ItemTower(features, hidden, dim)
        self.users = UserTower(len(features), num_segments, hidden, dim)
        self.log_temp = nn.Parameter(torch.tensor(2.5))

    def encode_items(self, ids):
        return self.items(self.items.features.index_select(0, ids))

    def forward(self, history, segment, pos_ids, log_freq):
        u = self.users(history, segment)
        v = self.encode_items(pos_ids)
        logits = self.log_temp.exp() * (u @ v.t())
        # logQ correction for in-batch sampling
        logits = logits - log_freq.index_select(0, pos_ids)
        return logits


class Interactions:
    """Synthetic click log held on the training device; popularity follows a power law."""

    def __init__(self, num_items, num_segments, hist_len, device, pool):
        g = torch.Generator(device=device).manual_seed(1)

        def draw(*shape):
            r = torch.rand(*shape, generator=g, device=device)
            return (r.pow(3) * num_items).long().clamp_(max=num_items - 1)

        self.history = draw(pool, hist_len)
        self.target = draw(pool)
        self.segment = torch.randint(num_segments, (pool,), generator=g, device=device)
        counts = torch.bincount(self.target, minlength=num_items).float() + 1
        self.log_freq = (counts / counts.sum()).log()
        self.g, self.pool, self.device = g, pool, device

    def batch(self, n):
        rows = torch.randint(self.pool, (n,), generator=self.g, device=self.device)
        return self.history[rows], self.segment[rows], self.target[rows]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=260)
    p.add_argument("--device", default="cuda")
    p.add_argument("--small", action="store_true")
    p.add_argument("--batch-size", type=int, default=16384)
    p.add_argument("--items", type=int, default=400_000)
    p.add_argument("--features", type=int, default=768)
    p.add_argument("--hidden", type=int, default=1024)
    p.add_argument("--dim", type=int, default=256)
    p.add_argument("--history", type=int, default=30)
    args = p.parse_args()
    if args.small:
        args.batch_size, args.items, args.features, args.hidden, args.dim = 64, 2000, 32, 64, 16
    torch.manual_seed(0)
    device = torch.device(args.device)
    cuda = device.type == "cuda"
    torch.set_float32_matmul_precision("high")

    dtype = torch.bfloat16 if cuda else torch.float32
    features = torch.randn(args.items, args.features, device=device, dtype=dtype)
    model = TwoTower(features, 1000, args.hidden, args.dim).to(device)
    log = Interactions(args.items, 1000, args.history, device, pool=20 * args.batch_size)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4, fused=cuda)
    labels = torch.arange(args.batch_size, device=device)
    running = torch.zeros((), device=device)

    def step():
        history, segment, pos = log.batch(args.batch_size)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=cuda):
            logits = model(history, segment, pos, log.log_freq)
            loss = F.cross_entropy(logits, labels)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        running.mul_(0.98).add_(loss.detach(), alpha=0.02)

    for _ in range(5):
        step()
    if cuda:
        torch.cuda.synchronize()
    start = time.perf_counter()
    for i in range(args.steps):
        step()
        if (i + 1) % 100 == 0:
            print(f"step {i + 1}  loss {running.item():.4f}")
    if cuda:
        torch.cuda.synchronize()
    print(f"final loss {running.item():.5f}")
    print(f"total {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
