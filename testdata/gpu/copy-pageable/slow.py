"""Trains a classifier on pictures of 224 by 224 that workers prepare."""

import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH = 256
STEPS = 60
device = "cuda" if torch.cuda.is_available() else "cpu"


class Pictures(Dataset):
    def __init__(self):
        self.raw = torch.randint(256, (512, 3, 224, 224), dtype=torch.uint8)

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        return self.raw[index % 512].float() / 255, index % 100


def main():
    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=100).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    loader = DataLoader(Pictures(), batch_size=BATCH, num_workers=12)
    for images, targets in loader:
        images = images.to(device)  # the cost
        targets = targets.to(device)
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = loss_fn(model(images), targets)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
