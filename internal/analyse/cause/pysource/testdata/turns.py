import torch
import torch.nn.functional as F
from torch import nn

SCALES = [0.5, 1.0, 2.0]


def contrast(a, b, scale):
    sim = torch.matmul(F.normalize(a, dim=1), b.t()) * scale  # matmul same
    return F.relu(sim * scale)  # relu other


def masked(x, n):
    mask = torch.ones(x.size(1), x.size(1)).tril()  # tril same
    noise = F.softmax(torch.randn(x.size(0), n), dim=1)  # softmax other
    return x.masked_fill(mask == 0, 0) + noise


def spread(p, c):
    return p.sigmoid() * c  # sigmoid other


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.randn(8)

    def go(self, x):
        return x * self.table.exp()  # exp other


class Loss(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.head = nn.Linear(8, 8)
        self.cached = None
        self.weight = nn.Parameter(torch.zeros(8, 8))
        self.layers = nn.ModuleList(Layer() for _ in range(3))

    def one(self, logits, target, c):
        prob = F.softmax(logits, dim=1)[:, c]  # softmax same
        hot = F.one_hot(target, 8)  # one_hot same
        mask = (target == c).float()  # float other
        late = F.softmax(self.head(logits), dim=1)  # softmax other
        kept = F.log_softmax(self.cached, dim=1)  # log_softmax other
        return (prob * mask * hot + late + kept).sum()

    def keep(self, x):
        self.cached = x

    def forward(self, logits, target, layers, x):
        scores = [self.one(logits, target, c) for c in range(self.classes)]  # calls one
        inside = [logits.softmax(1)[:, c] for c in range(self.classes)]  # softmax same
        over = [row.sum() for row in F.softmax(logits, dim=1)]  # softmax other
        once = F.softmax(logits, dim=1)  # softmax other
        total = 0
        for c in range(self.classes):
            p = F.softmax(logits, dim=1)  # softmax same
            q = p.exp()  # exp same
            total = total + torch.sigmoid(total)  # sigmoid other
            total = total + q[:, c] + F.softmax(logits[:, c:], dim=1).sum()  # softmax other
        for layer in layers:
            x = F.softmax(x, dim=1)  # softmax other
            y = F.softmax(layer(x), dim=1)  # softmax other
        for c in range(self.classes):
            logits.add_(c)
            changed = F.softmax(logits, dim=1)  # softmax other
        for k in range(2):
            if k:
                z = F.softmax(z0, dim=1)  # softmax other
            z0 = target * k
        for row in target.split(2):
            part = F.softmax(row, dim=1)  # softmax other
        for c in range(3):
            dropped = F.softmax(F.dropout(once, 0.1), dim=1)  # softmax other
        for c in range(3):
            alias = once
            alias.mul_(c)
            after = F.softmax(once, dim=1)  # softmax other
        for i in range(4):
            x = masked(x, 3)  # calls masked
        for i in range(4):
            x = spread(x, i)  # calls spread
        for i in range(4):
            x = x @ F.normalize(self.weight, dim=0)  # normalize same
        for layer in self.layers:
            x = layer.go(x)  # calls go
        return total + sum(scores) + sum(inside) + sum(over) + y + changed + z + part + dropped + after


def train(model, data, optimizer):
    table = torch.arange(100)
    for epoch in range(3):
        for x in data:
            ready = F.softmax(table.float(), dim=0)  # softmax other
            a, b = model(x)
            loss = 0
            for scale in SCALES:
                loss = loss + contrast(a, b, scale)  # calls contrast
            for scale in SCALES:
                loss = loss + F.softmax(a, dim=1).mean() * scale  # softmax same
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    for x in data:
        late = F.softmax(table.float(), dim=0)  # softmax other
    return late + ready
