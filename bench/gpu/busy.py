"""Keeps a device busy until it is ended."""

import torch

a = torch.randn(8192, 8192, device="cuda")
while True:
    for _ in range(20):
        a @ a
    torch.cuda.synchronize()
