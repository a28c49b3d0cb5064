"""Batched text generation with a Llama-style decoder (grouped-query attention,
static KV cache, top-k sampling)."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Config:
    vocab, dim, layers, heads, kv_heads, ffn = 32000, 4096, 20, 32, 8, 11008

    @property
    def head_dim(self):
        return self.dim // self.heads


class SmallConfig(Config):
    vocab, dim, layers, heads, kv_heads, ffn = 512, 128, 2, 8, 2, 256


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


def rope_table(max_len, head_dim, device, dtype, base=10000.0):
    inv = base ** (-torch.arange(0, head_dim, 2, device=device).float() / head_dim)
    ang = torch.outer(torch.arange(max_len, device=device).float(), inv)
    ang = torch.cat([ang, ang], dim=-1)
    return ang.cos().to(dtype), ang.sin().to(dtype)


def apply_rope(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.addcmul(x * cos, torch.cat([-b, a], dim=-1), sin)


def repeat_kv(x, n_rep):
    """(batch, kv_heads, len, head_dim) -> (batch, heads, len, head_dim)"""
    b, h, t, d = x.shape
    if n_rep == 1:
        return x
    return x[:, :, None].expand(b, h, n_rep, t, d).reshape(b, h * n_rep, t, d)


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads, self.kv_heads, self.hd = cfg.heads, cfg.kv_heads, cfg.head_dim
        self.n_rep = cfg.heads // cfg.kv_heads
        self.qkv = nn.Linear(cfg.dim, (cfg.heads + 2 * cfg.kv_heads) * cfg.head_dim, bias=False)
        self.out = nn.Linear(cfg.dim, cfg.dim, bias=False)

    def forward(self, x, cos, sin, cache, pos):
        b, t, _ = x.shape
        qkv = self.qkv(x).view(b, t, -1, self.hd).transpose(1, 2)
        q, k, v = qkv.split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        q, k = apply_rope(q, cos, sin), apply_rope(k, cos, sin)
        k_cache, v_cache = cache
        k_cache[:, :, pos:pos + t] = k
        v_cache[:, :, pos:pos + t] = v
        k = repeat_kv(k_cache[:, :, :pos + t], self.n_rep)
        v = repeat_kv(v_cache[:, :, :pos + t], self.n_rep)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.out(y.transpose(1, 2).reshape(b, t, -1))


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(cfg.dim), RMSNorm(cfg.dim)
        self.attn = Attention(cfg)
        self.gate_up = nn.Linear(cfg.dim, 2 * cfg.ffn, bias=False)
        self.down = nn.Linear(cfg.ffn, cfg.dim, bias=False)

    def forward(self, x, cos, sin, cache, pos):
        x = x + self.attn(self.norm1(x), cos, sin, cache, pos)
        gate, up = self.gate_up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.layers)])
        self.norm = RMSNorm(cfg.dim)
        self.lm_head = nn.Linear(cfg.dim, cfg.vocab, bias=False)

    def forward(self, ids, rope, caches, pos):
        x = self.embed(ids)
        cos, sin = (r[pos:pos + ids.shape[1]] for r in rope)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cos, sin, cache, pos)
        return self.lm_head(self.norm(x[:, -1]))


def sample_top_k(logits, k, temperature):
    top, idx = torch.topk(logits.float() / temperature, k, dim=-1)
    noise = -torch.log(torch.empty_like(top).exponential_())
    return idx.gather(1, (top + noise).argmax(-1, keepdim=True))


@torch.inference_mode()
def generate(model, prompt, new_tokens, rope, caches, top_k=50, temperature=0.8):
    b, plen = prompt.shape
    out = torch.empty(b, new_tokens, dtype=torch.long, device=prompt.device)
    tok, pos = prompt, 0
    for i in range(new_tokens):
        logits = model(tok, rope, caches, pos)
        pos += tok.shape[1]
        tok = sample_top_k(logits, top_k, temperature)
        out[:, i:i + 1] = tok
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=600, help="tokens to generate per sequence")
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--prompt-len", type=int, default=512)
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--small", action="store_true")
    args = ap.parse_args()
    cfg = Config()
    if args.small:
        cfg, args.batch, args.prompt_len = SmallConfig(), 2, 16
    device, dtype = torch.device(args.device), torch.bfloat16
    torch.manual_seed(0)
    torch.backends.cuda.enable_cudnn_sdp(False)  # key length changes every token
    torch.set_default_dtype(dtype)
    with device:
        model = Decoder(cfg).eval().requires_grad_(False)

    max_len = args.prompt_len + max(args.steps, 8)
    rope = rope_table(max_len, cfg.head_dim, device, dtype)
    shape = (args.batch, cfg.kv_heads, max_len, cfg.head_dim)
    caches = [(torch.zeros(shape, device=device), torch.zeros(shape, device=device)) for _ in range(cfg.layers)]
    prompt = torch.randint(cfg.vocab, (args.batch, args.prompt_len), device=device)

    generate(model, prompt, 8, rope, caches)  # warm-up
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    out = generate(model, prompt, args.steps, rope, caches)
    if device.type == "cuda":
        torch.cuda.synchronize()
    total = time.perf_counter() - start
    print("first sequence:", out[0, :10].tolist())
    print(f"total {total:.2f} s, {args.batch * args.steps / total:.0f} tokens/s")


if __name__ == "__main__":
    main()
