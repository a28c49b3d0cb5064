"""Learns the echoes of rooms from what is played and what is heard in them."""

import torch
from torch import nn

SAMPLES = 20000
ECHO = 20000
ROOMS = 4
PLAYED = 8
STEPS = 80


class Rooms(nn.Module):
    def __init__(self):
        super().__init__()
        self.echoes = nn.Parameter(torch.randn(ROOMS, ECHO) / ECHO)

    def forward(self, played):
        size = SAMPLES + ECHO
        spectrum = torch.fft.rfft(played, n=size).unsqueeze(1) * torch.fft.rfft(self.echoes, n=size)
        return torch.fft.irfft(spectrum, n=size)[..., :SAMPLES]


def main():
    torch.manual_seed(8)
    rooms = Rooms()
    optimizer = torch.optim.SGD(rooms.parameters(), lr=0.1)
    late = torch.randint(ECHO // 4, (ROOMS,)).tolist()
    for _ in range(STEPS):
        played = torch.randn(PLAYED, SAMPLES)
        heard = torch.stack([torch.roll(played, by, -1) for by in late], 1)
        loss = nn.functional.mse_loss(rooms(played), heard)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
