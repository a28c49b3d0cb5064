"""Trains a small residual network on pictures that stay on the device."""

import torch
import torchvision
from torch import nn

BATCH = 128
STEPS = 500
device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=10).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    pictures = torch.randn(4096, 3, 32, 32, device=device)
    labels = torch.randint(10, (4096,), device=device)
    total, right = torch.zeros((), device=device), torch.zeros((), device=device)
    for step in range(STEPS):
        start = step * BATCH % 4096
        images, targets = pictures[start : start + BATCH], labels[start : start + BATCH]
        optimizer.zero_grad()
        answers = model(images)
        loss = loss_fn(answers, targets)
        total += loss.detach()
        right += (answers.argmax(1) == targets).sum()
        loss.backward()
        optimizer.step()
    print(f"loss {float(total) / STEPS:.3f}, accuracy {float(right) / STEPS / BATCH:.3f}")


if __name__ == "__main__":
    main()
