"""SimCLR pre-training of a CIFAR-style ResNet-18 on images that live on the device."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class BasicBlock(nn.Module):
    def __init__(self, c_in, c_out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(c_out)
        self.short = nn.Identity()
        if stride != 1 or c_in != c_out:
            self.short = nn.Sequential(
                nn.Conv2d(c_in, c_out, 1, stride, bias=False), nn.BatchNorm2d(c_out))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)), inplace=True)
        h = self.bn2(self.conv2(h))
        return F.relu(h + self.short(x), inplace=True)


class Encoder(nn.Module):
    def __init__(self, width=64, proj_dim=128):
        super().__init__()
        w = width
        self.stem = nn.Sequential(
            nn.Conv2d(3, w, 3, 1, 1, bias=False), nn.BatchNorm2d(w), nn.ReLU(inplace=True))
        blocks, c = [], w
        for i, mult in enumerate((1, 2, 4, 8)):
            blocks += [BasicBlock(c, w * mult, 1 if i == 0 else 2), BasicBlock(w * mult, w * mult)]
            c = w * mult
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Sequential(
            nn.Linear(c, c), nn.ReLU(inplace=True), nn.Linear(c, proj_dim))

    def forward(self, x):
        h = self.blocks(self.stem(x))
        return self.head(h.mean(dim=(2, 3)))


class Augment(nn.Module):
    """Random horizontal flip, shift, brightness and contrast for a whole batch."""

    def forward(self, x):
        n = x.shape[0]
        flip = torch.rand(n, 1, 1, 1, device=x.device) < 0.5
        x = torch.where(flip, x.flip(3), x)
        gain = 1 + 0.4 * (torch.rand(n, 1, 1, 1, device=x.device) * 2 - 1)
        bias = 0.4 * (torch.rand(n, 1, 1, 1, device=x.device) * 2 - 1)
        x = x * gain + bias
        dy, dx = torch.randint(-4, 5, (2,)).tolist()
        return torch.roll(x, (dy, dx), (2, 3)) + 0.05 * torch.randn_like(x)


class NTXent(nn.Module):
    def __init__(self, temperature=0.2):
        super().__init__()
        self.temperature = temperature

    def forward(self, z1, z2):
        n = z1.shape[0]
        z = torch.cat([z1, z2], dim=0).float()
        sim = F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=-1)
        logits = sim / self.temperature
        eye = torch.eye(2 * n, dtype=torch.bool, device=z.device)
        logits = logits.masked_fill(eye, float("-inf"))
        target = torch.arange(2 * n, device=z.device).roll(n)
        return F.cross_entropy(logits, target)


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=50)
    p.add_argument("--warmup", type=int, default=4)
    p.add_argument("--batch", type=int, default=1536)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--device", default="cuda")
    p.add_argument("--small", action="store_true")
    return p.parse_args()


def sync(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def main():
    args = parse_args()
    if args.small:
        args.batch, args.width = 16, 8
    device = torch.device(args.device)
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True

    images = torch.randint(0, 256, (4 * args.batch, 3, 32, 32), dtype=torch.uint8).to(device)
    model = Encoder(args.width).to(device, memory_format=torch.channels_last)
    augment, criterion = Augment(), NTXent()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

    def step():
        idx = torch.randint(0, images.shape[0], (args.batch,), device=device)
        batch = images[idx].float().div_(255).sub_(0.5)
        views = torch.cat([augment(batch), augment(batch)])
        views = views.contiguous(memory_format=torch.channels_last)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            z1, z2 = model(views).chunk(2)
        loss = criterion(z1, z2)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        return loss.detach()

    for _ in range(args.warmup):
        step()
    sync(device)
    start = time.perf_counter()
    for i in range(args.steps):
        loss = step()
        if (i + 1) % 10 == 0:
            print(f"step {i + 1} loss {loss.item():.4f}")
    sync(device)
    elapsed = time.perf_counter() - start
    print(f"final loss {loss.item():.5f}")
    print(f"total {elapsed:.2f} s")


if __name__ == "__main__":
    main()
