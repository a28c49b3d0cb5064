"""Learns sequences of changing length with a compiled model that is translated anew for each length."""

import torch
import torch._dynamo
from torch import nn

STEPS = 28
PAD = False

torch._dynamo.config.cache_size_limit = 512


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(*[nn.Linear(96, 96) for _ in range(3)])
        self.out = nn.Linear(96, 5)

    def forward(self, x):
        for layer in self.inner:
            x = torch.relu(layer(x)) + x
        return self.out(x.mean(1))


def main():
    reader = Reader()
    compiled = torch.compile(reader, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.SGD(reader.parameters(), lr=0.01)
    for i in range(STEPS):
        length = 16 + i
        x, y = torch.rand(16, length, 96), torch.randint(5, (16,))
        if PAD:
            x = nn.functional.pad(x, (0, 0, 0, 16 + STEPS - length))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(compiled(x), y)  # the cost
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
