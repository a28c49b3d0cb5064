"""Learns to balance a pole by policy gradients."""

import math
import random

import torch
from torch import nn

EPISODES = 60
LIMIT = 100
STEPS = 1
device = "cpu"


class Pole:
    def reset(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state

    def step(self, push):
        x, v, angle, turn = self.state
        force = 10.0 if push else -10.0
        cos, sin = math.cos(angle), math.sin(angle)
        temp = (force + 0.05 * turn * turn * sin) / 1.1
        angular = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
        linear = temp - 0.05 * angular * cos / 1.1
        self.state = [x + 0.02 * v, v + 0.02 * linear, angle + 0.02 * turn, turn + 0.02 * angular]
        return self.state, 1.0


def main():
    torch.manual_seed(0)
    random.seed(0)
    policy = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2)).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    pole = Pole()
    for _ in range(EPISODES):
        state, logs, rewards = pole.reset(), [], []
        for _ in range(LIMIT):
            choice = torch.distributions.Categorical(logits=policy(torch.tensor(state, device=device)))
            action = choice.sample()
            logs.append(choice.log_prob(action))
            state, reward = pole.step(action.item())
            rewards.append(reward)
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + 0.99 * total
            returns.insert(0, total)
        gains = torch.tensor(returns, device=device)
        gains = (gains - gains.mean()) / (gains.std() + 1e-6)
        loss = -(torch.stack(logs) * gains).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
