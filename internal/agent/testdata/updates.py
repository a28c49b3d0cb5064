"""Trains a head, two networks in turn, and copies of parameters, each for 16 steps."""

import torch

torch.manual_seed(0)
x = torch.randn(8, 4)


def train(*optimizers, passes=1):
    for _ in range(16):
        for optimizer, model in optimizers:
            optimizer.zero_grad()
            for _ in range(passes):
                model(x).square().mean().backward()
            optimizer.step()


body, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
whole = torch.nn.Sequential(body, head)
train((torch.optim.SGD(head.parameters(), lr=0.01), whole))
first, second = torch.nn.Linear(4, 4), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
groups = [{"params": list(second[0].parameters())}, {"params": list(second[1].parameters()), "lr": 0.1}]
train((torch.optim.SGD(first.parameters(), lr=0.01), first), (torch.optim.SGD(groups, lr=0.01), second), passes=2)
copies = [torch.zeros(4, requires_grad=True)]
train((torch.optim.SGD(copies, lr=0.01), lambda x: copies[0]))
print(round(float(sum(p.sum() for p in whole.parameters())), 4))
