"""DDIM sampling of a text-conditioned latent diffusion transformer (DiT) with
classifier-free guidance."""
import argparse
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


def attend(q, k, v, heads):
    b, n, d = q.shape
    q, k, v = (z.view(b, -1, heads, d // heads).transpose(1, 2) for z in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v)
    return out.transpose(1, 2).reshape(b, n, d)


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        x = x + self.proj(attend(q, k, v, self.heads))
        return x + self.mlp(self.norm2(x))


class TextEncoder(nn.Module):
    def __init__(self, vocab, dim, heads, depth, max_len):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(1, max_len, dim) * 0.02)
        self.layers = nn.ModuleList([EncoderLayer(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        x = self.embed(ids) + self.pos[:, : ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class DiTBlock(nn.Module):
    def __init__(self, dim, ctx_dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(dim, elementwise_affine=False)
        self.norm3 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.xq = nn.Linear(dim, dim)
        self.xkv = nn.Linear(ctx_dim, 2 * dim)
        self.xproj = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(approximate="tanh"), nn.Linear(4 * dim, dim))
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(dim, 6 * dim))

    def forward(self, x, ctx, temb):
        s1, b1, g1, s2, b2, g2 = self.ada(temb).unsqueeze(1).chunk(6, dim=-1)
        q, k, v = self.qkv(torch.addcmul(b1, self.norm1(x), 1 + s1)).chunk(3, dim=-1)
        x = torch.addcmul(x, g1, self.proj(attend(q, k, v, self.heads)))
        k, v = self.xkv(ctx).chunk(2, dim=-1)
        x = x + self.xproj(attend(self.xq(self.norm3(x)), k, v, self.heads))
        return torch.addcmul(x, g2, self.mlp(torch.addcmul(b2, self.norm2(x), 1 + s2)))


class TextToImageDiT(nn.Module):
    def __init__(self, dim, depth, heads, txt_dim, txt_depth, txt_heads, latent, txt_len, vocab=32128, patch=2):
        super().__init__()
        self.dim, self.patch, self.grid = dim, patch, latent // patch
        self.text_encoder = TextEncoder(vocab, txt_dim, txt_heads, txt_depth, txt_len)
        self.patchify = nn.Conv2d(4, dim, patch, stride=patch)
        self.pos = nn.Parameter(torch.randn(1, self.grid ** 2, dim) * 0.02)
        self.time_mlp = nn.Sequential(nn.Linear(256, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList([DiTBlock(dim, txt_dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, patch * patch * 4)
        self.register_buffer("freqs", torch.exp(-math.log(10000.0) * torch.arange(128) / 128), persistent=False)

    def forward(self, x, t, ctx):
        arg = t[:, None].float() * self.freqs[None].float()
        temb = self.time_mlp(torch.cat([arg.cos(), arg.sin()], dim=-1).to(x.dtype))
        h = self.patchify(x).flatten(2).transpose(1, 2) + self.pos
        for block in self.blocks:
            h = block(h, ctx, temb)
        h = self.head(self.norm(h))
        b, g, p = x.shape[0], self.grid, self.patch
        return h.view(b, g, g, p, p, 4).permute(0, 5, 1, 3, 2, 4).reshape(b, 4, g * p, g * p)


class DDIMSampler:
    def __init__(self, model, steps, guidance, device, train_steps=1000):
        betas = torch.linspace(0.00085 ** 0.5, 0.012 ** 0.5, train_steps) ** 2
        self.alphas = torch.cumprod(1 - betas, 0).tolist()
        self.times = torch.linspace(train_steps - 1, 0, steps).long().tolist()
        self.model, self.guidance, self.device = model, guidance, device

    @torch.inference_mode()
    def sample(self, x, prompt_ids, null_ids):
        ctx = self.model.text_encoder(torch.cat([prompt_ids, null_ids]))
        for i, t in enumerate(self.times):
            tt = torch.full((2 * x.shape[0],), t, device=self.device)
            eps = self.model(torch.cat([x, x]), tt, ctx)
            cond, uncond = eps.chunk(2)
            eps = uncond + self.guidance * (cond - uncond)
            a = self.alphas[t]
            a_prev = self.alphas[self.times[i + 1]] if i + 1 < len(self.times) else 1.0
            x0 = ((x - (1 - a) ** 0.5 * eps) / a ** 0.5).clamp(-4, 4)
            x = a_prev ** 0.5 * x0 + (1 - a_prev) ** 0.5 * eps
        return x


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=48, help="DDIM steps")
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--guidance", type=float, default=5.0)
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--small", action="store_true")
    args = ap.parse_args()
    device = torch.device(args.device)
    torch.manual_seed(0)

    cfg = {"dim": 1024, "depth": 16, "heads": 16, "txt_dim": 2048, "txt_depth": 16, "txt_heads": 32, "latent": 64, "txt_len": 256}
    if args.small:
        cfg = {"dim": 64, "depth": 2, "heads": 4, "txt_dim": 64, "txt_depth": 2, "txt_heads": 4, "latent": 16, "txt_len": 16}
        args.batch = 2
    with device:
        model = TextToImageDiT(**cfg).to(torch.bfloat16).eval().requires_grad_(False)
    txt_len, latent = cfg["txt_len"], cfg["latent"]

    prompts = torch.randint(1, 32128, (args.batch, txt_len), device=device)
    null = torch.zeros_like(prompts)
    noise = torch.randn(args.batch, 4, latent, latent, device=device, dtype=torch.bfloat16)

    DDIMSampler(model, 2, args.guidance, device).sample(noise, prompts, null)  # warm-up
    sampler = DDIMSampler(model, args.steps, args.guidance, device)
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    latents = sampler.sample(noise, prompts, null)
    if device.type == "cuda":
        torch.cuda.synchronize()
    total = time.perf_counter() - start
    print(f"latent std {latents.float().std().item():.4f}")
    print(f"total {total:.2f} s for {args.steps} steps")


if __name__ == "__main__":
    main()
