"""Trains an encoder with an optimizer that is written by hand."""

import torch
from torch import nn

BATCH, LENGTH, WIDTH = 8, 64, 256
STEPS = 250
device = "cuda" if torch.cuda.is_available() else "cpu"


class HandAdam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["mean"], state["square"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                state["mean"].mul_(one).add_(p.grad, alpha=1 - one)  # the cost
                state["square"].mul_(two).addcmul_(p.grad, p.grad, value=1 - two)
                mean = state["mean"] / (1 - one ** state["step"])
                square = state["square"] / (1 - two ** state["step"])
                p.sub_(group["lr"] * mean / (square.sqrt() + group["eps"]))


def main():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 8), nn.Linear(WIDTH, 16)).to(device)
    optimizer = HandAdam(model.parameters())
    signals = torch.randn(64, BATCH, LENGTH, WIDTH, device=device)
    targets = torch.randint(16, (64, BATCH, LENGTH), device=device)
    for step in range(STEPS):
        optimizer.zero_grad()
        answers = model(signals[step % 64])
        loss = nn.functional.cross_entropy(answers.flatten(0, 1), targets[step % 64].flatten())
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
