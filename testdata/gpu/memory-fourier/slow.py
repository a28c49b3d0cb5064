"""Next-nucleotide model on long DNA windows: gated long convolutions with some attention layers."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS = 150
BATCH = 4
WINDOW = 8192
DIM = 384
HEADS = 6
PATTERN = "hhahha"          # h: long convolution, a: attention
VOCAB = 5                   # A C G T N
N_WINDOWS = 512
LR = 6e-4
SEED = 11


class ImplicitFilter(nn.Module):
    """Long filter given by a small network of the position, with exponential decay."""

    def __init__(self, dim, length, n_bands=8, hidden=64):
        super().__init__()
        t = torch.linspace(0, 1, length)[:, None]
        bands = torch.arange(1, n_bands + 1)[None, :]
        feats = torch.cat([t, torch.sin(6.2832 * t * bands), torch.cos(6.2832 * t * bands)], dim=1)
        self.register_buffer("feats", feats)
        self.register_buffer("t", t)
        self.net = nn.Sequential(
            nn.Linear(feats.shape[1], hidden), nn.GELU(),
            nn.Linear(hidden, hidden), nn.GELU(),
            nn.Linear(hidden, dim))
        self.log_decay = nn.Parameter(torch.linspace(0.0, 4.0, dim))

    def forward(self):
        k = self.net(self.feats).float() * torch.exp(-self.t * self.log_decay.exp())
        return k.t() / self.t.shape[0] ** 0.5


def long_conv(u, k):
    """Causal convolution of u (B, D, L) with k (D, L) through the Fourier domain."""
    length = u.shape[-1]
    n = length + k.shape[-1] - 1
    u_f = torch.fft.rfft(u, n=n)
    k_f = torch.fft.rfft(k, n=n)
    return torch.fft.irfft(u_f * k_f, n=n)[..., :length]


class HyenaMixer(nn.Module):
    def __init__(self, dim, length):
        super().__init__()
        self.in_proj = nn.Linear(dim, 3 * dim)
        self.filter = ImplicitFilter(dim, length)
        self.bias = nn.Parameter(torch.zeros(dim, 1))
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, x):
        gate1, gate2, v = self.in_proj(x).transpose(1, 2).chunk(3, dim=1)
        u = (gate1 * v).float()
        y = long_conv(u, self.filter()) + self.bias * u
        y = gate2 * y.to(gate2.dtype)
        return self.out_proj(y.transpose(1, 2))


class AttentionMixer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(x).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(a.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, kind, dim, heads, length):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.mixer = HyenaMixer(dim, length) if kind == "h" else AttentionMixer(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.mixer(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DNAModel(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.blocks = nn.ModuleList(Block(c, DIM, HEADS, length) for c in PATTERN)
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def make_windows():
    """Synthetic genome windows with repeated motifs and some unknown bases."""
    gen = torch.Generator().manual_seed(SEED)
    motifs = torch.randint(0, 4, (64, 32), generator=gen)
    pick = torch.randint(0, 64, (N_WINDOWS, WINDOW // 32), generator=gen)
    seqs = motifs[pick].reshape(N_WINDOWS, WINDOW)
    noise = torch.rand(seqs.shape, generator=gen)
    seqs = torch.where(noise < 0.05, torch.randint(0, 4, seqs.shape, generator=gen), seqs)
    seqs[noise > 0.995] = 4
    return seqs


def main():
    torch.manual_seed(SEED)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    on_gpu = device == "cuda"

    windows = make_windows().to(device)
    model = DNAModel(WINDOW - 1).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.1, fused=on_gpu)

    start = time.time()
    for step in range(STEPS):
        lo = (step * BATCH) % (N_WINDOWS - BATCH + 1)
        batch = windows[lo:lo + BATCH]
        inputs, targets = batch[:, :-1], batch[:, 1:]
        with torch.autocast(device, dtype=torch.bfloat16, enabled=on_gpu):
            logits = model(inputs)
            loss = F.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 30 == 0 or step == STEPS - 1:
            print(f"step {step:4d}  loss {loss.item():.4f}  {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
