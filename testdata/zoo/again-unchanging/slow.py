"""Draws points in the plane so that those that are near each other stay so."""

import torch

POINTS = 1200
STEPS = 150


def drift(points, plane, optimizer):
    for step in range(STEPS):
        near = torch.softmax(-torch.cdist(points, points, p=1), dim=1)  # the cost
        found = torch.log_softmax(-torch.cdist(plane, plane), dim=1)
        loss = -(near * found).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(f"loss {loss.item():.3f}")


def main():
    torch.manual_seed(2)
    points = torch.randn(POINTS, 32)
    plane = torch.randn(POINTS, 2, requires_grad=True)
    drift(points, plane, torch.optim.Adam([plane], lr=0.05))


if __name__ == "__main__":
    main()
