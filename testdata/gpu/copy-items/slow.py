"""Trains a recommender; its dataset puts each item on the device."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROWS, BATCH, FIELDS = 40000, 256, 12
STEPS = 110
device = "cuda" if torch.cuda.is_available() else "cpu"


class Clicks(Dataset):
    def __init__(self):
        self.rows = torch.randint(1000, (ROWS, FIELDS)).tolist()

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        row = self.rows[index]
        return torch.tensor(row, device=device), torch.tensor(float(sum(row) % 2), device=device)  # the cost


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(1000, 64)
        self.mlp = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, rows):
        return self.mlp(self.embed(rows)).squeeze(1)


def main():
    torch.manual_seed(0)
    model = Ranker().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for rows, clicked in DataLoader(Clicks(), batch_size=BATCH, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(model(rows), clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
