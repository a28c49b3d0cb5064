"""Trains on JPEG pictures with the usual augmentations."""

import io

import torch
import torchvision
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

BATCH = 64
STEPS = 12
device = "cuda" if torch.cuda.is_available() else "cpu"


class Pictures(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(0)
        self.files = []
        for _ in range(64):
            pixels = torch.randint(256, (40, 40, 3), dtype=torch.uint8, generator=generator).numpy()
            file = io.BytesIO()
            Image.fromarray(pixels).resize((320, 320)).save(file, "JPEG")
            self.files.append(file.getvalue())
        self.transform = transforms.Compose(
            [
                transforms.RandomResizedCrop(224),
                transforms.RandomHorizontalFlip(),
                transforms.ColorJitter(0.2, 0.2, 0.2),
                transforms.ToTensor(),
                transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
            ]
        )

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        picture = Image.open(io.BytesIO(self.files[index % 64])).convert("RGB")  # the cost
        return self.transform(picture), index % 10


def main():
    torch.manual_seed(0)
    model = torchvision.models.resnet50(num_classes=10).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Pictures(), batch_size=BATCH, shuffle=True, pin_memory=True)
    for images, targets in loader:
        images, targets = images.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), targets)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
