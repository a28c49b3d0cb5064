"""Works with tensors but has no steps; its argument says how many rounds."""

import sys

import torch

a = torch.randn(8, 8)
for _ in range(int(sys.argv[1])):
    a = (a @ a).relu() + 1e-3
    a = a / a.norm()
print(a.shape)
