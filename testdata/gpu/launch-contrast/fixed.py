import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import resnet50


STEPS = 55
BATCH_SIZE = 128
IMAGE_SIZE = 96
POOL = 4096
PROJ_DIM = 128
TEMPERATURE = 0.2
LR = 3e-4

device = "cuda" if torch.cuda.is_available() else "cpu"


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = resnet50(weights=None)
        dim = self.encoder.fc.in_features
        self.encoder.fc = nn.Identity()
        self.projector = nn.Sequential(
            nn.Linear(dim, dim), nn.ReLU(inplace=True), nn.Linear(dim, PROJ_DIM)
        )

    def forward(self, x):
        return self.projector(self.encoder(x))


class NTXentLoss(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, z1, z2):
        n = z1.shape[0]
        z = F.normalize(torch.cat([z1, z2]), dim=1)
        sim = z @ z.t() / self.temperature
        sim.fill_diagonal_(float("-inf"))
        target = torch.arange(2 * n, device=z.device).roll(n)
        return F.cross_entropy(sim, target)


class Trainer:
    def __init__(self):
        torch.manual_seed(42)
        self.model = SimCLR().to(device, memory_format=torch.channels_last)
        self.criterion = NTXentLoss(TEMPERATURE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=LR, fused=True)
        self.images = torch.randint(
            0, 256, (POOL, 3, IMAGE_SIZE, IMAGE_SIZE), dtype=torch.uint8, device=device
        )
        self.history = []

    def augment(self, x):
        n = x.shape[0]
        flip = torch.rand(n, 1, 1, 1, device=device) < 0.5
        x = torch.where(flip, x.flip(-1), x)
        brightness = 0.6 + 0.8 * torch.rand(n, 1, 1, 1, device=device)
        gray = x.mean(dim=1, keepdim=True)
        mix = torch.rand(n, 1, 1, 1, device=device)
        x = (x * mix + gray * (1 - mix)) * brightness
        return x + 0.05 * torch.randn_like(x)

    def next_batch(self):
        idx = torch.randint(0, POOL, (BATCH_SIZE,), device=device)
        x = self.images[idx].float() / 255.0
        views = torch.cat([self.augment(x), self.augment(x)])
        return views.contiguous(memory_format=torch.channels_last)

    def train_step(self):
        views = self.next_batch()
        with torch.autocast(device_type=device, dtype=torch.bfloat16):
            z = self.model(views)
        z1, z2 = z.float().chunk(2)
        loss = self.criterion(z1, z2)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self, steps):
        self.model.train()
        for step in range(steps):
            self.history.append(self.train_step())
            if step % 25 == 24:
                recent = torch.stack(self.history[-25:]).mean().item()
                print(f"[{step + 1}/{steps}] nt-xent {recent:.4f}")


def main():
    torch.backends.cudnn.benchmark = True
    Trainer().fit(STEPS)


if __name__ == "__main__":
    main()
