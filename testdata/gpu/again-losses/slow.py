"""Paired image-to-image GAN (pix2pix style) with a VGG perceptual loss."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import vgg16


def conv_block(c_in, c_out, k, stride=1):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, k, stride, k // 2, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.body = nn.Sequential(
            conv_block(ch, ch, 3),
            nn.Conv2d(ch, ch, 3, 1, 1, bias=False),
            nn.BatchNorm2d(ch),
        )

    def forward(self, x):
        return x + self.body(x)


class Generator(nn.Module):
    def __init__(self, ngf=64, n_blocks=16):
        super().__init__()
        layers = [conv_block(3, ngf, 7), conv_block(ngf, 2 * ngf, 3, 2), conv_block(2 * ngf, 4 * ngf, 3, 2)]
        layers += [ResBlock(4 * ngf) for _ in range(n_blocks)]
        layers += [nn.Upsample(scale_factor=2), conv_block(4 * ngf, 2 * ngf, 3)]
        layers += [nn.Upsample(scale_factor=2), conv_block(2 * ngf, ngf, 3)]
        layers += [nn.Conv2d(ngf, 3, 7, 1, 3), nn.Tanh()]
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class PatchDiscriminator(nn.Module):
    def __init__(self, ndf=64):
        super().__init__()
        layers = [nn.Conv2d(6, ndf, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True)]
        for c_in, c_out, s in ((ndf, 2 * ndf, 2), (2 * ndf, 4 * ndf, 2), (4 * ndf, 8 * ndf, 1)):
            layers += [nn.Conv2d(c_in, c_out, 4, s, 1, bias=False), nn.BatchNorm2d(c_out),
                       nn.LeakyReLU(0.2, inplace=True)]
        layers += [nn.Conv2d(8 * ndf, 1, 4, 1, 1)]
        self.net = nn.Sequential(*layers)

    def forward(self, src, img):
        return self.net(torch.cat([src, img], dim=1))


class PerceptualLoss(nn.Module):
    """L1 between VGG16 relu3_3 features."""

    def __init__(self):
        super().__init__()
        self.features = vgg16(weights=None).features[:16].eval()
        self.requires_grad_(False)

    def forward(self, fake, target):
        with torch.no_grad():
            want = self.features(target)
        return F.l1_loss(self.features(fake), want)


class Pix2PixTrainer:
    def __init__(self, device, small):
        fmt = torch.channels_last
        width, blocks = (8, 2) if small else (64, 16)
        self.device = device
        self.gen = Generator(width, blocks).to(device, memory_format=fmt)
        self.disc = PatchDiscriminator(width).to(device, memory_format=fmt)
        self.perceptual = PerceptualLoss().to(device, memory_format=fmt)
        fused = device.type == "cuda"
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=2e-4, betas=(0.5, 0.999), fused=fused)
        self.opt_d = torch.optim.Adam(self.disc.parameters(), lr=2e-4, betas=(0.5, 0.999), fused=fused)

    def autocast(self):
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def train_step(self, src, real):
        with self.autocast():
            fake = self.gen(src)

        # discriminator (hinge)
        self.disc.requires_grad_(True)
        self.opt_d.zero_grad(set_to_none=True)
        with self.autocast():
            pred_real = self.disc(src, real)
            pred_fake = self.disc(src, fake)
            loss_d = F.relu(1 - pred_real.float()).mean() + F.relu(1 + pred_fake.float()).mean()
        loss_d.backward(retain_graph=True)
        self.opt_d.step()

        # generator
        self.disc.requires_grad_(False)
        self.opt_g.zero_grad(set_to_none=True)
        with self.autocast():
            adv = -self.disc(src, fake).float().mean()
            percep = self.perceptual(fake, real)
            rec = F.l1_loss(fake.float(), real)
            loss_g = adv + 10.0 * percep + 100.0 * rec
        loss_g.backward()
        self.opt_g.step()
        return loss_d.detach(), loss_g.detach()


def make_pairs(n, batch, size, device):
    gen = torch.Generator(device=device).manual_seed(1)
    pairs = []
    for _ in range(n):
        coarse = torch.rand(batch, 3, size // 16, size // 16, device=device, generator=gen) * 2 - 1
        real = F.interpolate(coarse, size=(size, size), mode="bilinear")
        src = real.mean(1, keepdim=True).expand(-1, 3, -1, -1)
        pairs.append(tuple(t.contiguous(memory_format=torch.channels_last) for t in (src, real)))
    return pairs


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=70)
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--small", action="store_true")
    args = ap.parse_args()
    batch, size = (2, 64) if args.small else (16, 256)

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    device = torch.device(args.device)
    trainer = Pix2PixTrainer(device, args.small)
    pairs = make_pairs(8, batch, size, device)

    sync = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    for i in range(5):
        trainer.train_step(*pairs[i % len(pairs)])
    sync()
    start = time.perf_counter()
    for i in range(args.steps):
        loss_d, loss_g = trainer.train_step(*pairs[i % len(pairs)])
        if (i + 1) % 20 == 0:
            print(f"step {i + 1} loss_d {loss_d.item():.4f} loss_g {loss_g.item():.4f}")
    sync()
    print(f"loss_d {loss_d.item():.6f} loss_g {loss_g.item():.6f}")
    print(f"total {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
