"""Fine-tuning style training of a causal language model on documents of different lengths."""
import argparse
import itertools
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

PAD, IGNORE = 0, -100


class Documents(Dataset):
    def __init__(self, n, vocab, max_len, seed=0):
        rng = np.random.default_rng(seed)
        lengths = rng.lognormal(5.1, 0.6, n).astype(np.int64).clip(16, max_len)
        self.offsets = np.concatenate([[0], lengths.cumsum()])
        self.tokens = rng.integers(1, vocab, self.offsets[-1], dtype=np.int32)
        self.lengths = lengths

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        return torch.from_numpy(self.tokens[self.offsets[i]:self.offsets[i + 1]])


class BucketSampler(Sampler):
    """Shuffles, then groups documents of similar length into the same batch."""

    def __init__(self, lengths, batch_size, window=50, seed=0):
        self.lengths, self.batch_size = lengths, batch_size
        self.window = window * batch_size
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        order = self.rng.permutation(len(self.lengths))
        batches = []
        for s in range(0, len(order), self.window):
            chunk = order[s:s + self.window]
            chunk = chunk[np.argsort(self.lengths[chunk], kind="stable")]
            batches += [chunk[k:k + self.batch_size] for k in range(0, len(chunk), self.batch_size)]
        batches = [b for b in batches if len(b) == self.batch_size]
        for k in self.rng.permutation(len(batches)):
            yield batches[k].tolist()

    def __len__(self):
        return len(self.lengths) // self.batch_size


class Collate:
    def __init__(self, max_len):
        self.max_len = max_len

    def __call__(self, docs):
        width = self.max_len
        ids = torch.full((len(docs), width), PAD, dtype=torch.long)
        labels = torch.full((len(docs), width), IGNORE, dtype=torch.long)
        for row, doc in enumerate(docs):
            ids[row, :len(doc)] = doc
            labels[row, :len(doc) - 1] = doc[1:]
        return ids, labels


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        # right padding: a causal mask is enough, padded targets are ignored by the loss
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class CausalLM(nn.Module):
    def __init__(self, vocab, dim, depth, heads, max_len):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(max_len, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.02)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=150)
    p.add_argument("--device", default="cuda")
    p.add_argument("--small", action="store_true")
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--max-len", type=int, default=512)
    p.add_argument("--vocab", type=int, default=32000)
    args = p.parse_args()
    dim, depth, heads, docs = 768, 12, 12, 12800
    if args.small:
        args.batch_size, args.vocab, dim, depth, heads, docs = 4, 200, 32, 2, 2, 400
    torch.manual_seed(0)
    device = torch.device(args.device)
    cuda = device.type == "cuda"
    torch.set_float32_matmul_precision("high")

    data = Documents(docs, args.vocab, args.max_len)
    loader = DataLoader(data, batch_sampler=BucketSampler(data.lengths, args.batch_size),
                        collate_fn=Collate(args.max_len), num_workers=2 if args.small else 6,
                        pin_memory=cuda, persistent_workers=True, prefetch_factor=4)
    model = CausalLM(args.vocab, dim, depth, heads, args.max_len).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1, fused=cuda)
    warmup = 2 if args.small else 12
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 100))

    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    start = time.perf_counter()
    for i, (ids, labels) in enumerate(itertools.islice(batches, warmup + args.steps)):
        if i == warmup:
            if cuda:
                torch.cuda.synchronize()
            start = time.perf_counter()
        ids, labels = ids.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=cuda):
            logits = model(ids)
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        opt.zero_grad(set_to_none=True)
        if (i + 1) % 50 == 0:
            print(f"step {i + 1}  loss {loss.item():.4f}")
    if cuda:
        torch.cuda.synchronize()
    print(f"last loss {loss.item():.5f}")
    print(f"total {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
