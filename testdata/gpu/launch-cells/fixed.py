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
        self.lstm = nn.LSTM(WIDTH, WIDTH, batch_first=True)

    def forward(self, words):
        x = self.embed(words)
        return self.head(self.lstm(x)[0])


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
