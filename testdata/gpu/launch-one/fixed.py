"""Embeds pictures for a search index, one by one."""

import torch
import torchvision

PICTURES = 768
STEPS = 1
device = "cuda" if torch.cuda.is_available() else "cpu"


@torch.no_grad()
def embed(model, pictures):
    vectors = []
    for batch in pictures.split(64):
        vectors.append(model(batch.to(device)).cpu())
    return torch.cat(vectors)


def main():
    torch.manual_seed(0)
    model = torchvision.models.resnet50().to(device).eval()
    pictures = torch.randn(PICTURES, 3, 224, 224)
    vectors = embed(model, pictures)
    print(f"{len(vectors)} vectors, norm {vectors.norm().item():.1f}")


if __name__ == "__main__":
    main()
