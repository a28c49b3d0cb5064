"""Physics-informed network for the 2-D compressible Euler equations (isentropic vortex)."""
import argparse
import math
import time

import torch
import torch.nn as nn

GAMMA = 1.4


class FourierMLP(nn.Module):
    """(x, y, t) -> density, velocity (u, v), pressure."""

    def __init__(self, width, depth, modes):
        super().__init__()
        self.register_buffer("freq", torch.randn(3, modes))
        sizes = [2 * modes] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.out = nn.Linear(width, 4)
        for layer in [*self.hidden, self.out]:
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x, y, t):
        z = torch.cat([x, y, t], dim=1) @ self.freq
        h = torch.cat([z.sin(), z.cos()], dim=1)
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        rho, u, v, p = self.out(h).split(1, dim=1)
        return 1.0 + 0.1 * rho, u, v, 1.0 + 0.1 * p


def gradient(f, wrt):
    return torch.autograd.grad(f, wrt, torch.ones_like(f), create_graph=True)[0]


def residuals(net, x, y, t):
    rho, u, v, p = net(x, y, t)
    rho_x, rho_y, rho_t = gradient(rho, x), gradient(rho, y), gradient(rho, t)
    u_x, u_y, u_t = gradient(u, x), gradient(u, y), gradient(u, t)
    v_x, v_y, v_t = gradient(v, x), gradient(v, y), gradient(v, t)
    p_x, p_y, p_t = gradient(p, x), gradient(p, y), gradient(p, t)
    div = u_x + v_y
    mass = rho_t + u * rho_x + v * rho_y + rho * div
    mom_x = rho * (u_t + u * u_x + v * u_y) + p_x
    mom_y = rho * (v_t + u * v_x + v * v_y) + p_y
    energy = p_t + u * p_x + v * p_y + GAMMA * p * div
    return mass, mom_x, mom_y, energy


def vortex(x, y, strength=0.5):
    r2 = x ** 2 + y ** 2
    f = strength / (2 * math.pi) * torch.exp(0.5 * (1 - r2))
    temp = 1 - (GAMMA - 1) / (2 * GAMMA) * f ** 2
    rho = temp ** (1 / (GAMMA - 1))
    return torch.cat([rho, 0.5 - y * f, 0.5 + x * f, rho ** GAMMA], dim=1)


class Sampler:
    def __init__(self, n_col, n_init, device, seed=0):
        self.n_col, self.n_init, self.device = n_col, n_init, device
        self.g = torch.Generator(device=device).manual_seed(seed)

    def uniform(self, n, lo, hi):
        return torch.rand(n, 1, generator=self.g, device=self.device) * (hi - lo) + lo

    def collocation(self):
        pts = self.uniform(self.n_col, -2, 2), self.uniform(self.n_col, -2, 2), self.uniform(self.n_col, 0, 1)
        return [q.requires_grad_() for q in pts]

    def initial(self):
        return self.uniform(self.n_init, -2, 2), self.uniform(self.n_init, -2, 2)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=120)
    p.add_argument("--device", default="cuda")
    p.add_argument("--small", action="store_true")
    p.add_argument("--points", type=int, default=65536)
    p.add_argument("--width", type=int, default=256)
    p.add_argument("--depth", type=int, default=7)
    args = p.parse_args()
    if args.small:
        args.points, args.width, args.depth = 256, 32, 3
    torch.manual_seed(0)
    device = torch.device(args.device)
    cuda = device.type == "cuda"
    torch.set_float32_matmul_precision("high")

    net = FourierMLP(args.width, args.depth, args.width // 2).to(device)
    sampler = Sampler(args.points, args.points, device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, fused=cuda)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.999)

    def step():
        x, y, t = sampler.collocation()
        pde = sum(r.square().mean() for r in residuals(net, x, y, t))
        x0, y0 = sampler.initial()
        state = torch.cat(net(x0, y0, torch.zeros_like(x0)), dim=1)
        init = (state - vortex(x0, y0)).square().mean()
        loss = pde + 10.0 * init
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        return loss.detach()

    for _ in range(5):
        step()
    if cuda:
        torch.cuda.synchronize()
    start = time.perf_counter()
    for i in range(args.steps):
        loss = step()
        if (i + 1) % 50 == 0:
            print(f"step {i + 1}  loss {loss.item():.6f}")
    if cuda:
        torch.cuda.synchronize()
    print(f"last loss {loss.item():.7f}")
    print(f"total {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
