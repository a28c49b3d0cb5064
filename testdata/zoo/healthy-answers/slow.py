"""Answers one request after another with a model of ordinary size."""

import time

import torch
from torch import nn

REQUESTS = 268
WIDTH = 1020


def answer(model, request):
    with torch.inference_mode():
        return model(request).argmax(-1)


def main():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(8)], nn.Linear(WIDTH, 40)).eval()
    took = []
    for _ in range(REQUESTS):
        request = torch.rand(64, WIDTH)
        began = time.perf_counter()
        answer(model, request)
        took.append(time.perf_counter() - began)
    print(f"median {sorted(took)[len(took) // 2] * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
