"""GRPO-style policy update of a LoRA-adapted decoder on stored rollouts."""
import argparse
import contextlib
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    """Frozen linear layer with a trainable low-rank update."""

    def __init__(self, d_in, d_out, rank=16, alpha=32.0):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_out, d_in), requires_grad=False)
        nn.init.normal_(self.weight, std=0.02)
        self.lora_a = nn.Parameter(torch.empty(rank, d_in))
        self.lora_b = nn.Parameter(torch.zeros(d_out, rank))
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
        self.scale = alpha / rank
        self.enabled = True

    def forward(self, x):
        y = F.linear(x, self.weight)
        if self.enabled:
            y = y + F.linear(F.linear(x, self.lora_a), self.lora_b * self.scale)
        return y


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = LoRALinear(dim, 3 * dim)
        self.proj = LoRALinear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 4 * dim, bias=False)
        self.down = nn.Linear(4 * dim, dim, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class CausalLM(nn.Module):
    def __init__(self, vocab, dim, depth, heads, max_len):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        for name, p in self.named_parameters():
            p.requires_grad_("lora_" in name)
        nn.init.normal_(self.tok.weight, std=0.02)
        nn.init.normal_(self.lm_head.weight, std=0.02)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.norm(x))

    @contextlib.contextmanager
    def reference(self):
        """Run the base model, i.e. without the adapters."""
        layers = [m for m in self.modules() if isinstance(m, LoRALinear)]
        for m in layers:
            m.enabled = False
        try:
            yield self
        finally:
            for m in layers:
                m.enabled = True


def completion_logprobs(model, ids, prompt_len):
    """log p of every completion token, shape [B, completion]."""
    logits = model(ids)[:, :-1]
    logp = F.log_softmax(logits.float(), dim=-1)
    token_logp = logp.gather(-1, ids[:, 1:, None]).squeeze(-1)
    return token_logp[:, prompt_len - 1:]


def grpo_loss(logp, ref_logp, advantages, mask, beta=0.04, clip=0.2):
    ratio = torch.exp(logp - logp.detach())
    adv = advantages[:, None]
    pg = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)
    delta = ref_logp - logp
    kl = torch.exp(delta) - delta - 1
    return -((pg - beta * kl) * mask).sum() / mask.sum()


def make_rollouts(n, group, prompt_len, completion_len, vocab, device):
    gen = torch.Generator().manual_seed(0)
    rollouts = []
    for _ in range(n):
        prompt = torch.randint(vocab, (1, prompt_len), generator=gen).expand(group, -1)
        completion = torch.randint(vocab, (group, completion_len), generator=gen)
        rewards = torch.rand(group, generator=gen)
        lengths = torch.randint(completion_len // 2, completion_len + 1, (group, 1), generator=gen)
        mask = (torch.arange(completion_len) < lengths).float()
        adv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
        ids = torch.cat([prompt, completion], dim=1)
        rollouts.append((ids.to(device), adv.to(device), mask.to(device)))
    return rollouts


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=70)
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--small", action="store_true")
    args = ap.parse_args()
    vocab, dim, depth, heads, group, prompt_len, comp_len = 128256, 1024, 8, 8, 8, 1536, 256
    if args.small:
        vocab, dim, depth, heads, group, prompt_len, comp_len = 512, 64, 2, 2, 4, 48, 16

    torch.manual_seed(0)
    device = torch.device(args.device)
    with device:
        model = CausalLM(vocab, dim, depth, heads, prompt_len + comp_len)
    model.to(torch.bfloat16)
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=1e-4, foreach=True)
    rollouts = make_rollouts(8, group, prompt_len, comp_len, vocab, device)

    def step(i):
        ids, adv, mask = rollouts[i % len(rollouts)]
        with torch.no_grad(), model.reference():
            ref_logp = completion_logprobs(model, ids, prompt_len)
        logp = completion_logprobs(model, ids, prompt_len)
        loss = grpo_loss(logp, ref_logp, adv, mask)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        return loss.detach()

    sync = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    for i in range(3):
        step(i)
    sync()
    start = time.perf_counter()
    for i in range(args.steps):
        loss = step(i)
        if (i + 1) % 20 == 0:
            print(f"step {i + 1} loss {loss.item():.5f}")
    sync()
    print(f"loss {loss.item():.6f}")
    print(f"total {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
