"""CTC training of a transformer speech recogniser on log-mel features that are
computed on the device (synthetic corpus)."""
import argparse
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

RATE, WIN, HOP, N_FFT = 16000, 400, 160, 512


def mel_filterbank(n_mels, device):
    hz = torch.linspace(0, RATE / 2, N_FFT // 2 + 1, device=device)
    top = 2595 * math.log10(1 + RATE / 2 / 700)
    pts = 700 * (10 ** (torch.linspace(0, top, n_mels + 2, device=device) / 2595) - 1)
    up = (hz[None] - pts[:-2, None]) / (pts[1:-1] - pts[:-2])[:, None]
    down = (pts[2:, None] - hz[None]) / (pts[2:] - pts[1:-1])[:, None]
    return torch.minimum(up, down).clamp(min=0)


class Corpus:
    """Utterances are cuts of one long recording that is kept on the device."""

    def __init__(self, n_utts, batch_size, max_seconds, vocab, device, seed=0):
        self.device = device
        self.max_samples = int(max_seconds * RATE)
        g = torch.Generator().manual_seed(seed)
        seconds = torch.exp(math.log(9.0) + 0.5 * torch.randn(n_utts, generator=g)).clamp(2.0, 28.0)
        seconds = seconds.clamp(max=max_seconds - 1.0)
        samples = (seconds * RATE).long().sort().values.tolist()
        self.audio = 0.1 * torch.randn(1200 * RATE if device.type == "cuda" else 60 * RATE, device=device)
        starts = torch.randint(self.audio.numel() - max(samples), (n_utts,), generator=g).tolist()

        # batches of utterances of similar length
        self.batches = []
        for i in range(0, n_utts - batch_size + 1, batch_size):
            lens = samples[i:i + batch_size]
            tokens = [max(1, int(6 * n / RATE)) for n in lens]
            frames = [(n - WIN) // HOP + 1 for n in lens]
            self.batches.append({
                "cuts": list(zip(starts[i:i + batch_size], lens)),
                "frames": torch.tensor(frames, device=device),
                "out_lens": torch.tensor([(((f + 1) // 2) + 1) // 2 for f in frames]),
                "targets": torch.randint(1, vocab, (batch_size, max(tokens)), generator=g).to(device),
                "target_lens": torch.tensor(tokens),
            })
        self.order = torch.randperm(len(self.batches), generator=g).tolist()

    def get(self, step):
        b = self.batches[self.order[step % len(self.order)]]
        # longest of the batch, in whole blocks of 64 frames, with a margin for the windows
        longest = max(n for _, n in b["cuts"])
        longest = min(self.max_samples, (longest // (64 * HOP) + 2) * 64 * HOP)
        wav = torch.zeros(len(b["cuts"]), longest, device=self.device)
        for row, (start, n) in zip(wav, b["cuts"]):
            row[:n].copy_(self.audio[start:start + n])
        return wav, b


class FrontEnd(nn.Module):
    def __init__(self, n_mels, device):
        super().__init__()
        self.register_buffer("window", torch.hann_window(WIN, device=device))
        self.register_buffer("fb", mel_filterbank(n_mels, device))

    @torch.no_grad()
    def forward(self, wav, frames):
        wav = F.pad(wav, (0, N_FFT - WIN))
        spec = torch.stft(wav, N_FFT, HOP, WIN, self.window, center=False, return_complex=True)
        power = torch.view_as_real(spec).square().sum(-1)
        mel = (self.fb @ power).clamp(min=1e-10).log10()
        mask = torch.arange(mel.shape[-1], device=wav.device) < frames[:, None]
        return (mel + 2.0) * mask[:, None], mask


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class Recogniser(nn.Module):
    def __init__(self, n_mels, dim, heads, depth, vocab, max_len=1024):
        super().__init__()
        self.conv1 = nn.Conv1d(n_mels, dim, 3, stride=2, padding=1)
        self.conv2 = nn.Conv1d(dim, dim, 3, stride=2, padding=1)
        self.pos = nn.Parameter(torch.randn(1, max_len, dim) * 0.02)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, mel, mask):
        x = F.gelu(self.conv2(F.gelu(self.conv1(mel)))).transpose(1, 2)
        x = x + self.pos[:, :x.shape[1]]
        mask = mask[:, None, None, ::4]
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


def train_step(step, corpus, front, model, opt, device):
    wav, b = corpus.get(step)
    mel, mask = front(wav, b["frames"])
    with torch.autocast(device.type, dtype=torch.bfloat16):
        logits = model(mel, mask)
    logp = logits.float().log_softmax(-1).transpose(0, 1)
    loss = F.ctc_loss(logp, b["targets"], b["out_lens"], b["target_lens"], zero_infinity=True)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    return loss.detach()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=75)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--max-seconds", type=float, default=30.0)
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--small", action="store_true")
    args = ap.parse_args()
    device = torch.device(args.device)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.enable_cudnn_sdp(False)
    dim, heads, depth, vocab, n_utts = 768, 12, 16, 256, 2048
    if args.small:
        dim, heads, depth, n_utts, args.batch, args.max_seconds = 64, 4, 2, 32, 4, 6.0

    corpus = Corpus(n_utts, args.batch, args.max_seconds, vocab, device)
    front = FrontEnd(80, device)
    model = Recogniser(80, dim, heads, depth, vocab).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for i in range(5):  # warm-up
        train_step(i, corpus, front, model, opt, device)

    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for i in range(args.steps):
        loss = train_step(i, corpus, front, model, opt, device)
        if (i + 1) % 25 == 0:
            print(f"step {i + 1} loss {loss.item():.3f}")
    if device.type == "cuda":
        torch.cuda.synchronize()
    total = time.perf_counter() - start
    print(f"final loss {loss.item():.3f}")
    print(f"total {total:.2f} s for {args.steps} steps")


if __name__ == "__main__":
    main()
