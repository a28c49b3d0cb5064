"""Tags words with a recurrent network that steps over them."""

import torch
from torch import nn

BATCH, LENGTH, WIDTH, WORDS = 64, 96, 256, 5000
STEPS = 120
device = "cuda" if torch.cuda.is_available() else "cpu"


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, 20)
        self.cell = nn.LSTMCell(WIDTH, WIDTH)

    def forward(self, words):
        x = self.embed(words)
        h = torch.zeros(len(words), WIDTH, device=x.device)
        c, outs = torch.zeros_like(h), []
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))  # the cost
            outs.append(h)
        return self.head(torch.stack(outs, 1))


def main():
    torch.manual_seed(0)
    model = Tagger().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    words = torch.randint(WORDS, (32, BATCH, LENGTH), device=device)
    for step in range(STEPS):
        batch = words[step % 32]
        loss = nn.functional.cross_entropy(model(batch).flatten(0, 1), (batch % 20).flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
