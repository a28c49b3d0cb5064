"""Builds its model anew for each call, from one line; two models that live side by side are called from another."""

import torch

both = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)]
for _ in range(12):
    model = torch.nn.Linear(8, 2)
    model(torch.zeros(3, 8))
    for part in both:
        part(torch.zeros(3, 4))
