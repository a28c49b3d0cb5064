"""Trains a ResNet-50 with mixed precision."""

import torch
import torchvision
from torch import nn

BATCH = 96
STEPS = 80
device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    torch.manual_seed(0)
    model = torchvision.models.resnet50(num_classes=100).to(device)
    model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler(device)
    pictures = torch.randn(4, BATCH, 3, 224, 224, device=device)
    labels = torch.randint(100, (4, BATCH), device=device)
    for step in range(STEPS):
        images, targets = pictures[step % 4], labels[step % 4]
        images = images.to(memory_format=torch.channels_last)
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(images), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(f"loss {loss.item():.3f}, scale {scaler.get_scale():.0f}")


if __name__ == "__main__":
    main()
