"""SimSiam pre-training of a ResNet-18 with the augmentations done on the device."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS = 200
BATCH = 128
IMAGE_SIZE = 224
NUM_IMAGES = 1536
LR = 0.05
LOG_EVERY = 50


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = None
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        return F.relu(y + (x if self.short is None else self.short(x)), inplace=True)


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    cin = 64
    for cout, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [BasicBlock(cin, cout, stride), BasicBlock(cout, cout, 1)]
        cin = cout
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


class SimSiam(nn.Module):
    def __init__(self, dim=2048, hidden=512):
        super().__init__()
        self.encoder = resnet18()
        self.projector = nn.Sequential(
            nn.Linear(512, dim, bias=False), nn.BatchNorm1d(dim), nn.ReLU(inplace=True),
            nn.Linear(dim, dim, bias=False), nn.BatchNorm1d(dim, affine=False),
        )
        self.predictor = nn.Sequential(
            nn.Linear(dim, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, dim),
        )

    def forward(self, x1, x2):
        z1, z2 = self.projector(self.encoder(x1)), self.projector(self.encoder(x2))
        return self.predictor(z1), self.predictor(z2), z1.detach(), z2.detach()


class DeviceAugment(nn.Module):
    """Random resized crop + flip, colour jitter, greyscale, Gaussian blur and normalisation of a batch."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        self.ksize = int(0.1 * size) // 2 * 2 + 1
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))
        self.register_buffer("grey", torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1))

    def crop_flip(self, x):
        n = x.shape[0]
        scale = torch.empty(n, device=x.device).uniform_(0.2, 1.0).sqrt()
        flip = torch.where(torch.rand(n, device=x.device) < 0.5, -1.0, 1.0)
        shift = (torch.rand(n, 2, device=x.device) * 2 - 1) * (1 - scale)[:, None]
        theta = torch.zeros(n, 2, 3, device=x.device)
        theta[:, 0, 0] = scale * flip
        theta[:, 1, 1] = scale
        theta[:, :, 2] = shift
        grid = F.affine_grid(theta, [n, 3, self.size, self.size], align_corners=False)
        return F.grid_sample(x, grid, mode="bilinear", padding_mode="reflection", align_corners=False)

    def jitter(self, x):
        n = x.shape[0]
        bright = torch.empty(n, 1, 1, 1, device=x.device).uniform_(0.6, 1.4)
        contrast = torch.empty(n, 1, 1, 1, device=x.device).uniform_(0.6, 1.4)
        x = x * bright
        mean = x.mean(dim=(1, 2, 3), keepdim=True)
        x = ((x - mean) * contrast + mean).clamp_(0, 1)
        grey = (x * self.grey).sum(1, keepdim=True)
        return torch.where(torch.rand(n, 1, 1, 1, device=x.device) < 0.2, grey, x)

    def blur(self, x):
        sigma = random.uniform(0.1, 2.0)
        half = self.ksize // 2
        t = torch.arange(-half, half + 1, device=x.device, dtype=x.dtype)
        g = torch.exp(-0.5 * (t / sigma) ** 2)
        g = g / g.sum()
        kernel = torch.outer(g, g).expand(3, 1, self.ksize, self.ksize)
        x = F.pad(x, (half, half, half, half), mode="reflect")
        return F.conv2d(x, kernel, groups=3)

    @torch.no_grad()
    def forward(self, x):
        x = self.blur(self.jitter(self.crop_flip(x)))
        return ((x - self.mean) / self.std).contiguous(memory_format=torch.channels_last)


def cosine_loss(p, z):
    return -F.cosine_similarity(p.float(), z.float(), dim=1).mean()


def make_images(n, size):
    base = torch.rand(n, 3, 8, 8)
    return (F.interpolate(base, size=(size, size), mode="bilinear") * 255).to(torch.uint8)


def main():
    random.seed(0)
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")

    images = make_images(NUM_IMAGES, IMAGE_SIZE)
    if device == "cuda":
        images = images.pin_memory()
    augment = DeviceAugment(IMAGE_SIZE).to(device)
    model = SimSiam().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(STEPS, 1))

    per_epoch = NUM_IMAGES // BATCH
    for step in range(STEPS):
        lo = (step % per_epoch) * BATCH
        batch = images[lo:lo + BATCH].to(device, non_blocking=True).float().div_(255)
        view1, view2 = augment(batch), augment(batch)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            p1, p2, z1, z2 = model(view1, view2)
        loss = 0.5 * (cosine_loss(p1, z2) + cosine_loss(p2, z1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % LOG_EVERY == 0 or step == STEPS - 1:
            spread = F.normalize(z1.float(), dim=1).std(dim=0).mean()
            print(f"step {step:4d}  loss {loss.item():.4f}  feature std {spread.item():.5f}")


if __name__ == "__main__":
    main()
