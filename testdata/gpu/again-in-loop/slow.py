"""U-Net training for land-cover segmentation with cross-entropy + Dice loss."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Sequential):
    def __init__(self, c_in, c_out):
        super().__init__(
            nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
            nn.BatchNorm2d(c_out), nn.ReLU(inplace=True),
            nn.Conv2d(c_out, c_out, 3, padding=1, bias=False),
            nn.BatchNorm2d(c_out), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, classes, base=32, depth=4):
        super().__init__()
        widths = [base * 2**i for i in range(depth + 1)]
        self.down = nn.ModuleList(
            DoubleConv(a, b) for a, b in zip([3] + widths[:-1], widths))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths[:-1], widths[1:]))
        self.merge = nn.ModuleList(DoubleConv(2 * a, a) for a in widths[:-1])
        self.classify = nn.Conv2d(base, classes, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        skips.pop()
        for up, merge in zip(reversed(self.up), reversed(self.merge)):
            x = merge(torch.cat([skips.pop(), up(x)], dim=1))
        return self.classify(x)


class SegLoss(nn.Module):
    def __init__(self, classes, dice_weight=0.5, eps=1.0):
        super().__init__()
        self.classes, self.dice_weight, self.eps = classes, dice_weight, eps

    def class_dice(self, logits, target, c):
        prob = F.softmax(logits, dim=1)[:, c]
        mask = (target == c).float()
        inter = (prob * mask).sum()
        return (2 * inter + self.eps) / (prob.sum() + mask.sum() + self.eps)

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target)
        scores = [self.class_dice(logits, target, c) for c in range(self.classes)]
        dice = 1 - torch.stack(scores).mean()
        return ce + self.dice_weight * dice


class TilePool:
    """A set of tiles resident on the device; random flips on the way out."""

    def __init__(self, count, size, classes, device):
        self.images = torch.randint(0, 256, (count, 3, size, size), dtype=torch.uint8).to(device)
        coarse = torch.randint(0, classes, (count, 1, size // 16, size // 16)).float()
        self.labels = F.interpolate(coarse, size=size, mode="nearest")[:, 0].to(device, torch.uint8)

    def batch(self, n):
        idx = torch.randint(0, len(self.images), (n,), device=self.images.device)
        x, y = self.images[idx], self.labels[idx]
        if torch.rand(()) < 0.5:
            x, y = x.flip(-1), y.flip(-1)
        x = x.float().div_(255).sub_(0.5)
        return x.contiguous(memory_format=torch.channels_last), y.long()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=70)
    p.add_argument("--warmup", type=int, default=5)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--size", type=int, default=512)
    p.add_argument("--classes", type=int, default=24)
    p.add_argument("--device", default="cuda")
    p.add_argument("--small", action="store_true")
    args = p.parse_args()
    base, tiles = 32, 48
    if args.small:
        args.batch, args.size, args.classes, base, tiles = 2, 64, 6, 8, 4

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    device = torch.device(args.device)
    pool = TilePool(tiles, args.size, args.classes, device)
    model = UNet(args.classes, base).to(device, memory_format=torch.channels_last)
    criterion = SegLoss(args.classes)
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)

    def train_step():
        x, y = pool.batch(args.batch)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits = model(x)
        loss = criterion(logits.float().contiguous(), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        return loss.detach()

    for _ in range(args.warmup):
        train_step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for i in range(args.steps):
        loss = train_step()
        if (i + 1) % 20 == 0:
            print(f"step {i + 1:4d}  loss {loss.item():.4f}")
    if device.type == "cuda":
        torch.cuda.synchronize()
    elapsed = time.perf_counter() - start
    print(f"final loss {loss.item():.5f}")
    print(f"total {elapsed:.2f} s")


if __name__ == "__main__":
    main()
