"""DDPM on 32x32 images, noise prediction, with an exponential moving average of the weights."""
import math

import torch
from torch import nn
import torch.nn.functional as F

STEPS = 50
BATCH = 128
TIMESTEPS = 1000
BASE = 128
MULTS = (1, 2, 2, 2)
NUM_IMAGES = 20_000
EMA_DECAY = 0.9995
LR = 2e-4

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.backends.cudnn.benchmark = True
torch.set_float32_matmul_precision("high")


class ResBlock(nn.Module):
    def __init__(self, cin, cout, temb):
        super().__init__()
        self.norm1 = nn.GroupNorm(32, cin)
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1)
        self.temb = nn.Linear(temb, cout)
        self.norm2 = nn.GroupNorm(32, cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.temb(t)[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return h + self.skip(x)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm = nn.GroupNorm(32, c)
        self.qkv = nn.Conv2d(c, 3 * c, 1)
        self.proj = nn.Conv2d(c, c, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, dim=-1)
        out = F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
        return x + self.proj(out.transpose(1, 2).reshape(b, c, h, w))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        temb = BASE * 4
        half = BASE // 2
        self.register_buffer("freqs", torch.exp(-math.log(10000) * torch.arange(half) / half))
        self.time = nn.Sequential(nn.Linear(BASE, temb), nn.SiLU(), nn.Linear(temb, temb), nn.SiLU())
        self.stem = nn.Conv2d(3, BASE, 3, padding=1)
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        skips, c = [BASE], BASE
        for level, m in enumerate(MULTS):
            for _ in range(2):
                self.downs.append(ResBlock(c, BASE * m, temb))
                c = BASE * m
                skips.append(c)
            if level < len(MULTS) - 1:
                self.downs.append(nn.Conv2d(c, c, 3, stride=2, padding=1))
                skips.append(c)
        self.mid1 = ResBlock(c, c, temb)
        self.attn = Attention(c)
        self.mid2 = ResBlock(c, c, temb)
        for level, m in reversed(list(enumerate(MULTS))):
            for _ in range(3):
                self.ups.append(ResBlock(c + skips.pop(), BASE * m, temb))
                c = BASE * m
            if level > 0:
                self.ups.append(nn.ConvTranspose2d(c, c, 2, stride=2))
        self.norm = nn.GroupNorm(32, c)
        self.out = nn.Conv2d(c, 3, 3, padding=1)

    def forward(self, x, t):
        args = t.float()[:, None] * self.freqs[None]
        temb = self.time(torch.cat([args.sin(), args.cos()], dim=-1))
        h = self.stem(x)
        hs = [h]
        for layer in self.downs:
            h = layer(h, temb) if isinstance(layer, ResBlock) else layer(h)
            hs.append(h)
        h = self.mid2(self.attn(self.mid1(h, temb)), temb)
        for layer in self.ups:
            if isinstance(layer, ResBlock):
                h = layer(torch.cat([h, hs.pop()], dim=1), temb)
            else:
                h = layer(h)
        return self.out(F.silu(self.norm(h)))


def init_ema(model):
    return {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}


def update_ema(ema, model, decay):
    for k, v in model.state_dict().items():
        ema[k].mul_(decay).add_(v.detach().cpu(), alpha=1.0 - decay)


def main():
    torch.manual_seed(0)
    data = torch.randint(0, 256, (NUM_IMAGES, 3, 32, 32), dtype=torch.uint8).to(device)

    betas = torch.linspace(1e-4, 0.02, TIMESTEPS, device=device)
    alpha_bar = torch.cumprod(1.0 - betas, dim=0)
    sqrt_ab, sqrt_1mab = alpha_bar.sqrt(), (1.0 - alpha_bar).sqrt()

    model = UNet().to(device)
    ema = init_ema(model)
    opt = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.0, fused=True)
    n_params = sum(p.numel() for p in model.parameters()) / 1e6
    print(f"{n_params:.1f}M parameters on {device}")

    running = torch.zeros((), device=device)
    for step in range(1, STEPS + 1):
        x0 = data[torch.randint(0, NUM_IMAGES, (BATCH,), device=device)].float().div_(127.5).sub_(1.0)
        t = torch.randint(0, TIMESTEPS, (BATCH,), device=device)
        noise = torch.randn_like(x0)
        xt = sqrt_ab[t].view(-1, 1, 1, 1) * x0 + sqrt_1mab[t].view(-1, 1, 1, 1) * noise

        with torch.autocast(device_type=device, dtype=torch.bfloat16):
            pred = model(xt, t)
        loss = F.mse_loss(pred.float(), noise)

        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        update_ema(ema, model, EMA_DECAY)

        running += loss.detach()
        if step % 20 == 0:
            print(f"step {step}: loss {running.item() / 20:.4f}")
            running.zero_()

    torch.save(ema, "/tmp/ddpm_ema.pt")


if __name__ == "__main__":
    main()
