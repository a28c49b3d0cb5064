"""A recurrent network on waves, with gradient clipping and a schedule."""

import torch
from torch import nn

STEPS = 60
HIDDEN = 260


def main():
    recurrent, out = nn.GRU(8, HIDDEN, batch_first=True), nn.Linear(HIDDEN, 8)
    parameters = list(recurrent.parameters()) + list(out.parameters())
    optimizer = torch.optim.Adam(parameters, lr=2e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 25, 0.5)
    for step in range(STEPS):
        wave = torch.sin(torch.linspace(0, 12, 81) + torch.rand(48, 1) * 6).unsqueeze(-1).expand(-1, -1, 8)
        hidden, _ = recurrent(wave[:, :-1])
        loss = nn.functional.mse_loss(out(hidden), wave[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
