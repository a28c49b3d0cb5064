import math

import torch
from elsewhere import fill
from torch import nn

points = torch.randn(100, 8)
table = torch.arange(10)
place = nn.Parameter(torch.randn(100, 2))
rate = 0.1


def tidy(m):
    s = m.sum(1)
    s = s.pow(-0.5)
    return s[:, None] * m


def noisy(m):
    return m + torch.randn(m.shape)


def angles(m):
    h = torch.sin(m[:, :1] - m[:, 0]) ** 2
    return torch.asin(h.clamp(0, 1).sqrt()).rad2deg()


class Net(nn.Module):
    def __init__(self, grid):
        super().__init__()
        self.grid = grid
        self.width = 0.1
        self.weight = nn.Parameter(torch.zeros(8, 8))
        self.inner = nn.Linear(8, 8)
        self.count = 0

    def forward(self, x, edges):
        loops = edges + torch.eye(edges.size(0))  # same
        degree = loops.sum(1)  # same
        near = torch.cdist(self.grid, self.grid) / self.width  # same
        apart = angles(self.grid) + near  # same
        self.count += 1
        far = near * self.count  # other
        mask = torch.ones(x.size(0), x.shape[1]).tril()  # same
        hidden = self.inner(x)
        far = hidden @ loops  # other
        late = x.sum(1)  # other
        if x.sum() > 0:
            degree = degree + late
        scaled = loops * degree  # other
        for k in range(3):
            power = loops**k
        summed = power.sum()  # same
        for k in range(3):
            step = loops * k  # same
        for k in range(3):
            steps = hidden * k  # other
        return hidden + near + apart + mask + far + scaled + summed + step + steps


def helper(a, b=2, *, c=None):
    first = a * b  # same
    return first + c  # other


def turn(data, moved, optimizer):
    data = data.to("cpu")
    near = torch.cdist(data, data)  # same
    far = torch.cdist(moved, moved)  # other
    moved += near.sum() + far.sum()
    optimizer.step()


def driven(net, data, edges, loader):
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    total = torch.zeros(3)
    kept = None
    for epoch in range(10):
        scale = torch.full((3,), epoch)  # other
        fixed = torch.cdist(data, data)  # same
        fixed = fixed / fixed.mean()  # same
        total = total + fixed.sum()  # other
        if kept is None:
            kept = fixed.exp()
        again = kept * 2  # other
        tidied = tidy(edges)  # same
        noise = noisy(edges)  # other
        drawn = torch.rand(3) + scale + again + tidied + noise  # other
        for x, y in loader:
            batch = x.exp()  # other
            alike = (y[:, None] == y[None, :]).float()  # other
            inner = data.t() @ data  # same
            out = net(x, edges)  # calls forward
            helper(data, c=out)  # calls helper
            with torch.no_grad():
                bare = torch.cdist(data, data)  # other
            loss = (out * inner).mean() + batch + alike + bare + drawn
            loss.backward()
            optimizer.step()
        state = loader.state * 2  # other
        print(state)


for step in range(100):
    wanted = torch.cdist(points, points)  # same
    weight = torch.exp(-wanted / wanted.mean())  # same
    seen = torch.cdist(place, place)  # other
    order = (place > 0).nonzero()  # other
    table[step % 10] = 0
    read = table.float().exp()  # other
    angle = torch.sin(points * step)  # other
    fine = math.pi * points.clone()  # same
    grown = (weight * (seen - wanted) ** 2).mean()  # other
shift = torch.zeros(100, 8)
alias = shift
window = points.view(-1)
filled = torch.zeros(8)
table = torch.zeros(8, 8)
for _ in range(5):
    for step in range(100):
        late = torch.sin(points * step)  # other
        matrix = torch.zeros(8, 8)
        for k in range(1, 8):
            matrix[k, k - 1] = 0.5 * math.sqrt(k)  # same
        table.sum().backward()
for step in range(100):
    alias += 1
    fill(filled, step)
    late = shift.exp()  # other
    full = filled.exp()  # other
    flat = window.exp()  # same
    anew = torch.zeros(100)
    anew[3] = 1
    once = anew.exp()  # same
moving = points.clone()
for _ in range(100):
    turn(points, moving, None)  # calls turn
    still = points.exp()  # same
    moves = moving.exp()  # other
driven(Net(points), points, points @ points.t(), None)  # calls driven
