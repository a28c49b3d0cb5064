"""A decoder whose activation and norm are written out."""


import torch
from torch import nn

BATCH, LENGTH, WIDTH = 32, 1024, 1024
STEPS = 60
device = "cuda" if torch.cuda.is_available() else "cpu"


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.weight, self.bias)


def activation(x):
    return nn.functional.gelu(x, approximate="tanh")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = Norm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(activation(self.up(self.norm(x))))


def main():
    torch.manual_seed(0)
    model = nn.Sequential(*[Block() for _ in range(4)]).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    data = torch.randn(BATCH, LENGTH, WIDTH, device=device)
    for _ in range(STEPS):
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(data), data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
